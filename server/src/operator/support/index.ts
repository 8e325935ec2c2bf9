export { giveCredit } from './give-credit.js';
export { parseSupportCommand } from './parse.js';
export { runSupportCommand } from './run.js';
export { readListing } from './read-listing.js';
export { isRunId, readRuns } from './read-run.js';
export { readWallet } from './read-wallet.js';
