import { apiKeyMessage, operations } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { addOperation } from '../platform/operation-route.js';
import type { ApiKeys } from './api-keys.js';
import type { Challenges } from './challenges.js';
import type { Tokens } from './tokens.js';

/** Routes of login and API keys. */
export function identityRoutes(
  app: FastifyInstance,
  { challenges, tokens, apiKeys }: { challenges: Challenges; tokens: Tokens; apiKeys: ApiKeys },
): void {
  addOperation(app, operations.getChallenge, async ({ query }) => challenges.issue(query.wallet));

  addOperation(app, operations.createToken, async ({ body }) => {
    await challenges.redeem(body);
    return tokens.issue(body.wallet);
  });

  addOperation(app, operations.createApiKey, async ({ principal, body }) => {
    await challenges.redeem({ ...body, wallet: principal.wallet }, (text) => apiKeyMessage(body.label, text));
    return apiKeys.create(principal.wallet, body.label);
  });
}
