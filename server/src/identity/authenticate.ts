import { ApiError } from '../http/api-error.js';
import type { Principal } from '../http/principal.js';
import { looksLikeApiKey, type ApiKeys } from './api-keys.js';
import type { Tokens } from './tokens.js';

/** Identifies the caller from the `Authorization` header. */
export type Authenticate = (authorization: string | undefined) => Promise<Principal>;

/** Makes the function that turns a bearer into a principal; both kinds of bearer are told apart by form. */
export function createAuthenticate(tokens: Tokens, apiKeys: ApiKeys): Authenticate {
  return async (authorization) => {
    if (authorization === undefined) {
      throw new ApiError('unauthorized', 'The API key or token is missing.', {
        next: 'Send an Authorization header: "Bearer <API key or token>".',
      });
    }
    const bearer = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    if (bearer === undefined) {
      throw new ApiError('unauthorized', 'The API key or token cannot be read.', {
        next: 'The Authorization header must be "Bearer <API key or token>".',
      });
    }
    if (looksLikeApiKey(bearer)) {
      const { wallet, ...apiKey } = await apiKeys.verify(bearer);
      return { wallet, rateKey: `key:${apiKey.id}`, apiKey };
    }
    const wallet = tokens.verify(bearer);
    return { wallet, rateKey: `wallet:${wallet}` };
  };
}
