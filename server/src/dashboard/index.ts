export { dashboardRoutes, sendErrorPage } from './routes.js';
