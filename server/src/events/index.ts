export { removeOldEvents, tellEndingRentals } from './event-jobs.js';
export { eventRoutes } from './routes.js';
