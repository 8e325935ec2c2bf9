export { EmbeddedPostgresError } from './postgres/postgres.js';
export { findRunningPostgres } from './postgres/find-running.js';
export { startEmbedded } from './start.js';
export { openStateFolder, StateFolderError } from './state-folder/state-folder.js';
