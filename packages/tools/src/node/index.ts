export { spendingFromEnvironment, SpendingEnvironmentError } from './environment.js';
export { fileLedger } from './file-ledger.js';
