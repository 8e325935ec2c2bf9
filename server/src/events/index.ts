export { appendEvent } from './append-event.js';
export { removeOldEvents, tellEndingRentals } from './event-jobs.js';
export { eventRoutes } from './routes.js';
