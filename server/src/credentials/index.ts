export { readChainAccessState, type ChainAccessState } from './chain-access-state.js';
export { readIndexedAccount, type IndexedAccount } from './indexed-account.js';
export { createIndexer, type Indexer } from './indexer.js';
export { createRentalList } from './rental-list.js';
export { createCredentialRepository } from './repository.js';
export { credentialRoutes } from './routes.js';
export {
  createCredentialService,
  indexedStatusOf,
  type CredentialService,
  type IndexedStatus,
} from './service.js';
export { accessStatus, type AccessStatus } from './access-state.js';
