export { skillRoutes } from './routes.js';
