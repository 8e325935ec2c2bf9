export { createApiKeys } from './api-keys.js';
export { createAuthenticate, createProofCheck, createRecall } from './authenticate.js';
export { createChallenges, type Challenges } from './challenges.js';
export { createChangeConfirmations, type ChangeConfirmations } from './change-confirmations.js';
export { createOriginsOf, type OriginsOf } from './origins.js';
export {
  AuthorizationError,
  createAppGrants,
  createAppTokens,
  createAuthorization,
  createClientAssertions,
  createClientDocuments,
  createDpopProofs,
  createRegisteredClients,
  createUrlsOf,
  createWalletPrograms,
  oauthRoutes,
  removeEndedApps,
  type AskedGrant,
  type Authorization,
} from './oauth/index.js';
export { identityRoutes } from './routes.js';
export { createTokens } from './tokens.js';
export { createUsedOnce } from './used-once.js';
