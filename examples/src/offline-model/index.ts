/**
 * The offline model: a labelled stand-in for a language model, so that the example agents run where there
 * is no model. It has no knowledge and no judgement; see `answer.ts` for all it does.
 */
export { OFFLINE_MODEL_ID } from './answer.js';
export { serveOfflineModel } from './server.js';
export type { OfflineModel } from './server.js';
