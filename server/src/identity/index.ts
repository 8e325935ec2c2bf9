export { createApiKeys, type ApiKeys } from './api-keys.js';
export { createAuthenticate, type Authenticate } from './authenticate.js';
export { createChallenges, type Challenges } from './challenges.js';
export { createChangeConfirmations, type ChangeConfirmations } from './change-confirmations.js';
export { createOriginsOf } from './origins.js';
export { identityRoutes } from './routes.js';
export { createSpending, type Allowance, type Spending } from './spending.js';
export { createTokens, type Tokens } from './tokens.js';
