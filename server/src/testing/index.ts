export { openEmptyDatabase, openTestDatabase, type TemporaryDatabase } from './database.js';
export { findRunningPostgres } from '../embedded/postgres/find-running.js';
export { collectingGarbage } from './garbage.js';
export { readBody, startHttpStandIn, type HttpStandIn, type StandInListener } from './http-stand-in.js';
export { balanceAddressOf, insertListing, insertRun, newTestListingId, newWallet } from './rows.js';
export { schemaViolations } from '../platform/json-schema/compile.js';
export { publishedListing } from './tasks.js';
export { zipOf, type ZipEntry } from './zip.js';
