export { createContexts } from './contexts.js';
export { a2aRoutes } from './routes.js';
