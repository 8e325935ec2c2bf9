export { openEmptyDatabase, openTestDatabase, type TemporaryDatabase } from './database.js';
export { readBody, startHttpStandIn, type HttpStandIn, type StandInListener } from './http-stand-in.js';
export { balanceAddressOf, insertListing, insertRun, newTestListingId, newWallet } from './rows.js';
export { publishedListing } from './tasks.js';
