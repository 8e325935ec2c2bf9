export {
  openChargingMarket,
  type ChargingMarket,
  type FundedChain,
  type MarketListing,
} from './market/charging-market.js';
export {
  openEmptyDatabase,
  openKeptDatabase,
  openRestartableDatabase,
  openTestDatabase,
  startSharedTestServer,
  type KeptDatabase,
  type RestartableDatabase,
  type SharedTestServer,
  type TemporaryDatabase,
} from './database.js';
export { backUp } from '../embedded/backup/backup.js';
export { findRunningPostgres } from '../embedded/postgres/find-running.js';
export { collectingGarbage } from './garbage.js';
export {
  eachFor,
  onlyFor,
  rpcFaults,
  startHostileRpc,
  type HostileRpc,
  type ProxiedCall,
  type RpcFault,
} from './hostile-rpc.js';
export type { JsonEntry } from '../platform/json/json-gate.js';
export { readBody, startHttpStandIn, type HttpStandIn, type StandInListener } from './http-stand-in.js';
export { startMailServer, type MailServer } from './mail-server.js';
export { startTestMarket, type TestMarket } from './market/local-market.js';
export { readWhatIsSeldomRead } from './seldom-reads.js';
export { openServerParts, type IndexedListing, type ServerParts } from './server-parts.js';
export { loginOf, newKeyOf } from './owners.js';
export { programAccount } from './program-account.js';
export {
  balanceAddressOf,
  insertBalance,
  insertCharge,
  insertListing,
  insertRun,
  newTestListingId,
  newWallet,
} from './rows.js';
export { rowsRead } from './rows-read.js';
export { SAMPLE_LISTING, SAMPLE_REVIEW, samplePages } from './sample-pages.js';
export { startSigningService, type SigningService } from './signing-service.js';
export { schemaViolations } from '../platform/json-schema/compile.js';
export { publishedListing } from './tasks.js';
export { zipOf, type ZipEntry } from './zip.js';
