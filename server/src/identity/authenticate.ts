import { ApiError } from '../errors/api-error.js';
import type { Principal } from '../access/principal.js';
import { looksLikeApiKey, type ApiKeys } from './api-keys.js';
import type { AppTokens, UrlsOf } from './oauth/index.js';
import type { Tokens } from './tokens.js';

/** Where a bearer was sent to. */
interface Destination {
  request: Parameters<UrlsOf>[0];
  /** Whether access tokens of connected apps are for it. */
  takesAppTokens: boolean;
}

/** Identifies the caller from the `Authorization` header. */
export type Authenticate = (
  authorization: string | undefined,
  destination: Destination,
) => Promise<Principal>;

const BEARER = /^Bearer +(\S+)$/i;
const callerOf = (wallet: string): Principal => ({ wallet, rateKey: `wallet:${wallet}` });

/** Makes the function that knows the caller of a token that was verified before, without any check. */
export function createRecall(tokens: Tokens): (authorization: string) => Principal | undefined {
  return (authorization) => {
    const wallet = tokens.recall(BEARER.exec(authorization)?.[1] ?? '');
    return wallet === undefined ? undefined : callerOf(wallet);
  };
}

/** Makes the function that turns a bearer into a principal; the kinds of bearers are told apart by form. */
export function createAuthenticate(
  tokens: Tokens,
  apiKeys: ApiKeys,
  appTokens: AppTokens,
  urlsOf: UrlsOf,
): Authenticate {
  return async (authorization, { request, takesAppTokens }) => {
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
    if (appTokens.isAccessToken(bearer)) {
      if (!takesAppTokens) {
        throw new ApiError('unauthorized', 'The access token of an app is for MCP and A2A alone.', {
          next: 'Use an API key here.',
        });
      }
      const resources = urlsOf(request).map(({ resource }) => resource);
      const { wallet, apiKey } = await appTokens.verify(bearer, resources);
      return { wallet, rateKey: `key:${apiKey.id}`, apiKey };
    }
    return callerOf(await tokens.verify(bearer));
  };
}
