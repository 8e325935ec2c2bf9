export { createFolderContentStore, type ContentStore } from './content-store.js';
export {
  ContentRefusal,
  ContentUnavailableError,
  createContentReader,
  type ContentReader,
} from './content-reader.js';
