export { createFolderContentStore, type ContentStore } from './content-store.js';
