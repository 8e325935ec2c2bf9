import { apiKeyMessage, operations, type ApiKey } from '@agent-rental/contract';
import type { FastifyInstance } from 'fastify';
import { addOperation } from '../http/operation-route.js';
import type { ApiKeys } from './api-keys.js';
import type { Challenge, Challenges } from './challenges.js';
import { createOriginsOf } from './origins.js';
import { isSignInFor, signInFor, type SignInSite } from './sign-in.js';
import type { Tokens } from './tokens.js';

/** The dependencies of login and API keys. */
export interface IdentityDeps {
  challenges: Challenges;
  tokens: Tokens;
  apiKeys: ApiKeys;
  network: SignInSite['network'];
  /** Where wallets sign in. Absent: this machine alone. */
  publicUrl: string | undefined;
  /** What counts against the daily limits of keys now, in lamports. */
  spentToday: (apiKeyIds: readonly string[]) => Promise<ReadonlyMap<string, { run: bigint; rental: bigint }>>;
}

/** Routes of login and API keys. */
export function identityRoutes(app: FastifyInstance, deps: IdentityDeps): void {
  const { challenges, tokens, apiKeys, network } = deps;
  const originsOf = createOriginsOf(deps.publicUrl);

  addOperation(app, operations.getChallenge, async ({ query, request }) => {
    const issued = challenges.issue(query.wallet);
    const answer = { challenge: issued.challenge, expires_at: issued.expiresAt };
    if (query.sign_in !== 'true') return answer;
    const [origin] = originsOf(request);
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

  // Their scope is a login: a key with a tight policy, or one that leaked, could make itself a better one.
  addOperation(app, operations.createApiKey, async ({ principal, body }) => {
    const { challenge: _, signature: __, ...terms } = body;
    await challenges.redeem({ ...body, wallet: principal.wallet }, ({ challenge }) =>
      apiKeyMessage(terms, challenge),
    );
    return apiKeys.create(principal.wallet, terms);
  });

  addOperation(app, operations.listApiKeys, async ({ principal }) => {
    const keys = await apiKeys.list(principal.wallet);
    const isLimited = ({ policy }: ApiKey) => policy?.max_day_lamports !== undefined;
    const spent = await deps.spentToday(keys.filter(isLimited).map(({ id }) => id));
    return {
      api_keys: keys.map((key) => {
        if (!isLimited(key)) return key;
        const { run = 0n, rental = 0n } = spent.get(key.id) ?? {};
        return { ...key, spent_24h: { runs_lamports: Number(run), rentals_lamports: Number(rental) } };
      }),
    };
  });

  addOperation(app, operations.revokeApiKey, ({ principal, params }) =>
    apiKeys.revoke(principal.wallet, params.key_id),
  );
}
