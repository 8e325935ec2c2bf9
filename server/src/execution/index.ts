export { createConnectedAgents } from './connected-agent.js';
export { createDeclarativeAgents } from './declarative-agent.js';
export { createRepeats } from './repeats.js';
export { executionRoutes } from './routes.js';
export { createRunRepository } from './run-repository.js';
export type { RunTaskDeps } from './run-task.js';
export { createSeats } from './seats.js';
