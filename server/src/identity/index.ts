export { createApiKeys } from './api-keys.js';
export { createAuthenticate, createRecall } from './authenticate.js';
export { createChallenges } from './challenges.js';
export { createChangeConfirmations, type ChangeConfirmations } from './change-confirmations.js';
export { createOriginsOf } from './origins.js';
export { identityRoutes } from './routes.js';
export { createSpending, removeOldSpends, type Allowance, type Spending } from './spending.js';
export { createTokens } from './tokens.js';
