export { createFileRepository } from './repository.js';
export { fileRoutes } from './routes.js';
export { createFileService, type FileService } from './service.js';
