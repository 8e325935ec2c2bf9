import { apiKeyMessage, operations } from '@agent-rental/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../http/api-error.js';
import { addOperation } from '../http/operation-route.js';
import type { Principal } from '../http/principal.js';
import type { ApiKeys } from './api-keys.js';
import type { Challenge, Challenges } from './challenges.js';
import { isSignInFor, signInFor, type SignInSite } from './sign-in.js';
import type { Tokens } from './tokens.js';

const LOOPBACK_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];

/** What login and API keys are served with. */
export interface IdentityDeps {
  challenges: Challenges;
  tokens: Tokens;
  apiKeys: ApiKeys;
  network: SignInSite['network'];
  /** Where wallets sign in. Absent: this machine alone. Never taken from a request, which may come by a phishing site. */
  publicUrl: string | undefined;
}

/** Routes of login and API keys. */
export function identityRoutes(app: FastifyInstance, deps: IdentityDeps): void {
  const { challenges, tokens, apiKeys, network } = deps;

  const originsOf = ({ socket }: FastifyRequest): string[] =>
    deps.publicUrl === undefined
      ? LOOPBACK_HOSTS.map((host) => `http://${host}:${socket.localPort ?? 80}`)
      : [new URL(deps.publicUrl).origin];

  addOperation(app, operations.getChallenge, async ({ query, request }) => {
    const issued = challenges.issue(query.wallet);
    const answer = { challenge: issued.challenge, expires_at: issued.expiresAt };
    if (query.sign_in !== 'true') return answer;
    const origins = originsOf(request);
    const origin = origins.find((candidate) => new URL(candidate).host === request.host) ?? origins[0] ?? '';
    return { ...answer, sign_in: signInFor({ origin, network }, query.wallet, issued) };
  });

  addOperation(app, operations.createToken, async ({ body, request }) => {
    const { wallet, sign_in_message: signInMessage } = body;
    if (signInMessage === undefined) await challenges.redeem(body);
    else {
      const fits = (challenge: Challenge) =>
        originsOf(request).some((origin) =>
          isSignInFor(signInMessage, signInFor({ origin, network }, wallet, challenge), new Date()),
        );
      await challenges.redeem(body, (challenge) => (fits(challenge) ? signInMessage : undefined));
    }
    return tokens.issue(wallet);
  });

  addOperation(app, operations.createApiKey, async ({ principal, body }) => {
    requireLogin(principal);
    const { challenge: _, signature: __, ...terms } = body;
    await challenges.redeem({ ...body, wallet: principal.wallet }, ({ challenge }) =>
      apiKeyMessage(terms, challenge),
    );
    return apiKeys.create(principal.wallet, terms);
  });

  addOperation(app, operations.listApiKeys, async ({ principal }) => {
    requireLogin(principal);
    return { api_keys: await apiKeys.list(principal.wallet) };
  });

  addOperation(app, operations.revokeApiKey, async ({ principal, params }) => {
    requireLogin(principal);
    return apiKeys.revoke(principal.wallet, params.key_id);
  });
}

/** A key must not manage keys: one with a tight policy, or one that leaked, could make itself a better one. */
function requireLogin(principal: Principal): void {
  if (principal.apiKey === undefined) return;
  throw new ApiError(
    'unauthorized',
    "API keys are managed with the token of a wallet's login (POST /v1/auth/token), not with an API key.",
  );
}
