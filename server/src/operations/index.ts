export { countModelCalls, countReads, countRuns } from './instrumented.js';
export { createMetrics, type Metrics } from './metrics.js';
export { createReadiness } from './readiness.js';
export { createOperationsRepository } from './repository.js';
export { operationsRoutes } from './routes.js';
