export { createDatabaseBlocks } from './blocks/database-blocks.js';
export { createFolderBlocks } from './blocks/folder-blocks.js';
export { createContentStore, type ContentStore } from './content-store.js';
export { contentRoutes } from './gateway/routes.js';
export { arweaveKeyOf, createArweaveStore } from './outside/arweave-store.js';
export { createKuboStore } from './outside/kubo-store.js';
export { ContentRefusal, ContentUnavailableError } from './reading/content-errors.js';
export { createContentReader, type ContentReader } from './reading/content-reader.js';
