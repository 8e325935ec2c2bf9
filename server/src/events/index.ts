export { removeOldEvents, tellEndingRentals } from './event-jobs.js';
export { createEventStreams } from './event-streams.js';
export { eventRoutes } from './routes.js';
export { createCallbacks, type Callbacks } from './webhooks/callbacks.js';
export { webhookRoutes } from './webhooks/routes.js';
export { SEALED_WEBHOOKS } from './webhooks/secrets.js';
export { startDeliveries } from './webhooks/start-deliveries.js';
