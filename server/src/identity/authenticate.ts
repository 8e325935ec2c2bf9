import type { FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.js';
import type { Principal } from '../access/principal.js';
import { looksLikeApiKey, type ApiKeys } from './api-keys.js';
import { ProofError, type AppTokens, type DpopProofs, type UrlsOf } from './oauth/index.js';
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
const BEARER_OR_BOUND = /^(Bearer|DPoP) +(\S+)$/i;
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
    const [, scheme = '', bearer] = BEARER_OR_BOUND.exec(authorization) ?? [];
    const isBound = scheme.toLowerCase() === 'dpop';
    if (bearer === undefined) {
      throw new ApiError('unauthorized', 'The API key or token cannot be read.', {
        next: 'The Authorization header must be "Bearer <API key or token>".',
      });
    }
    if (isBound && !appTokens.isAccessToken(bearer)) throw notBound();
    if (looksLikeApiKey(bearer)) {
      const { wallet, ...apiKey } = await apiKeys.verify(bearer);
      return { wallet, rateKey: `key:${apiKey.id}`, apiKey };
    }
    if (appTokens.isAccessToken(bearer)) {
      const urls = urlsOf(request);
      const ours = urls.flatMap(({ resource, api }) => [resource, api]);
      const { wallet, apiKey, boundTo, resource } = await appTokens.verify(bearer, ours);
      if (takesAppTokens !== urls.some((one) => one.resource === resource)) throw notForHere(takesAppTokens);
      if (isBound && boundTo === undefined) throw notBound();
      if (!isBound && boundTo !== undefined) {
        throw new ApiError('unauthorized', 'The access token is bound to a key, and no bearer token.', {
          next: 'Send it as "DPoP <token>", with a proof of the key.',
          dpop: 'invalid_token',
        });
      }
      return { wallet, rateKey: `key:${apiKey.id}`, apiKey, boundTo };
    }
    return callerOf(await tokens.verify(bearer));
  };
}

function notForHere(isMcp: boolean): ApiError {
  return isMcp
    ? new ApiError('unauthorized', 'The access token is for the HTTP API alone.', {
        next: 'Log in for MCP, or use an API key here.',
      })
    : new ApiError('unauthorized', 'The access token of an app is for MCP and A2A alone.', {
        next: 'Use an API key here.',
      });
}

function notBound(): ApiError {
  return new ApiError('unauthorized', 'The API key or token is bound to no key.', {
    next: 'Send it as "Bearer <API key or token>".',
    dpop: 'invalid_token',
  });
}

/** Makes the function that holds the token of a request to its key. It gives what uses the proof up; undefined for a bearer. */
export function createProofCheck(
  proofs: DpopProofs,
  urlsOf: UrlsOf,
): (request: FastifyRequest, caller: Principal) => Promise<(() => Promise<void>) | undefined> {
  return async (request, { boundTo }) => {
    if (boundTo === undefined) return undefined;
    const [path = ''] = request.url.split('?');
    const told = async <T>(work: Promise<T>): Promise<T> =>
      work.catch((error: unknown) => {
        throw error instanceof ProofError ? badProof(error.message) : error;
      });
    if (request.headers['dpop'] === undefined) throw badProof('is missing');
    const proof = await told(
      proofs.check(String(request.headers['dpop']), {
        method: request.method,
        urls: urlsOf(request).map(({ issuer }) => issuer + path),
        token: BEARER_OR_BOUND.exec(request.headers.authorization ?? '')?.[2],
      }),
    );
    if (proof.jkt !== boundTo) throw badProof('is of another key than the access token');
    return () => told(proof.use());
  };
}

function badProof(why: string): ApiError {
  return new ApiError('unauthorized', `The proof of the key (DPoP) ${why}.`, {
    next: 'Send a new proof with each request, in the header DPoP.',
    dpop: 'invalid_dpop_proof',
  });
}
