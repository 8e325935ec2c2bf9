export { readDevFile } from './dev-file.js';
export { requireMachine, thisMachine } from './machine.js';
export { readMasterKey } from './master-key.js';
export { EmbeddedPostgresError } from './postgres/errors.js';
export { findRunningPostgres } from './postgres/find-running.js';
export { openStateFolder, StateFolderError } from './state-folder/state-folder.js';
