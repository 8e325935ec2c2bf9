export { removeOldEvents, tellEndingRentals } from './event-jobs.js';
export { eventRoutes } from './routes.js';
export { LEASE_MS as DELIVERY_LEASE_MS } from './webhooks/deliver.js';
export { DELIVERY_TASK } from './webhooks/enqueue-deliveries.js';
export { webhookRoutes } from './webhooks/routes.js';
export { SEALED_WEBHOOKS } from './webhooks/secrets.js';
export { startDeliveries } from './webhooks/start-deliveries.js';
