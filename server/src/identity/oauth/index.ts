export { createAppGrants } from './app-grants.js';
export { createAppTokens, removeEndedApps, type AppTokens } from './app-tokens.js';
export { createAuthorization, type AskedGrant, type Authorization } from './authorization.js';
export { createClientDocuments } from './client-documents.js';
export { AuthorizationError } from './oauth-error.js';
export { createRegisteredClients } from './registered-clients.js';
export { oauthRoutes } from './routes.js';
export { createUrlsOf, type UrlsOf } from './service-urls.js';
