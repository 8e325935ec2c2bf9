export * from './agents/index.js';
export * from './offline-model/index.js';
