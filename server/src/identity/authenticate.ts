import { ApiError } from '../http/api-error.js';
import type { Principal } from '../http/principal.js';
import { looksLikeApiKey, type ApiKeys } from './api-keys.js';
import type { Tokens } from './tokens.js';

/** Identifies the caller from the `Authorization` header. */
export type Authenticate = (authorization: string | undefined) => Promise<Principal>;

const BEARER = /^Bearer +(\S+)$/i;
const callerOf = (wallet: string): Principal => ({ wallet, rateKey: `wallet:${wallet}` });

/** Makes the function that knows the caller of a token that was verified before, without any check. */
export function createRecall(tokens: Tokens): (authorization: string) => Principal | undefined {
  return (authorization) => {
    const wallet = tokens.recall(BEARER.exec(authorization)?.[1] ?? '');
    return wallet === undefined ? undefined : callerOf(wallet);
  };
}

/** Makes the function that turns a bearer into a principal; both kinds of bearer are told apart by form. */
export function createAuthenticate(tokens: Tokens, apiKeys: ApiKeys): Authenticate {
  return async (authorization) => {
    if (authorization === undefined) {
      throw new ApiError('unauthorized', 'The API key or token is missing.', {
        next: 'Send an Authorization header: "Bearer <API key or token>".',
      });
    }
    const bearer = BEARER.exec(authorization)?.[1];
    if (bearer === undefined) {
      throw new ApiError('unauthorized', 'The API key or token cannot be read.', {
        next: 'The Authorization header must be "Bearer <API key or token>".',
      });
    }
    if (looksLikeApiKey(bearer)) {
      const { wallet, ...apiKey } = await apiKeys.verify(bearer);
      return { wallet, rateKey: `key:${apiKey.id}`, apiKey };
    }
    return callerOf(tokens.verify(bearer));
  };
}
