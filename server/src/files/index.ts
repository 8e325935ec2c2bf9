export { createFileRepository, SEALED_FILES } from './repository.js';
export type { ArchivedFile } from './archive/snapshot.js';
export type { FileInput } from './file-input.js';
export { fileRoutes } from './routes.js';
export { createFileService, type FileService } from './service.js';
