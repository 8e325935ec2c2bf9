import { randomUUID } from 'node:crypto';
import { createSigner, createVerifier, TOKEN_ERROR_CODES, type TokenError } from 'fast-jwt';
import { LRUCache } from 'lru-cache';
import * as z from 'zod';
import { ApiError } from '../http/api-error.js';
import type { Keys } from '../platform/keys.js';

const LIFETIME_SECONDS = 3600;
const ISSUER = 'agent-rental';

/** Tokens whose signature is remembered. */
const MOST_VERIFIED = 1000;

const claims = z.object({ sub: z.string(), exp: z.number() });

/** Issues and verifies the JWTs (EdDSA) that stand for a wallet. */
export interface Tokens {
  issue(wallet: string): { token: string; expires_at: number };
  /**
   * The wallet that a token stands for.
   *
   * @throws ApiError `jwt_expired`, or `unauthorized` for anything else that is wrong.
   */
  verify(token: string): string;
  /** The wallet of a token that was verified before and has not expired; costs no check of a signature. */
  recall(token: string): string | undefined;
}

/** Makes the token issuer. */
export function createTokens(keys: Keys['jwt']): Tokens {
  const sign = createSigner({
    key: keys.privateKey.export({ format: 'pem', type: 'pkcs8' }),
    algorithm: 'EdDSA',
    iss: ISSUER,
  });
  const verify = createVerifier({
    key: keys.publicKey.export({ format: 'pem', type: 'spki' }) as string,
    algorithms: ['EdDSA'],
    allowedIss: ISSUER,
    requiredClaims: ['iss', 'sub', 'exp'],
  });
  // By the token itself: the library's own cache hashes it first, which costs more than everything else that a request
  // is checked for. Who can read this process's memory has the signing key.
  const verified = new LRUCache<string, z.output<typeof claims>>({ max: MOST_VERIFIED });
  const recall = (token: string) => {
    const known = verified.get(token);
    return known && known.exp * 1000 > Date.now() ? known.sub : undefined;
  };
  return {
    recall,
    issue(wallet) {
      const expiresAt = Math.floor(Date.now() / 1000) + LIFETIME_SECONDS;
      return { token: sign({ sub: wallet, exp: expiresAt, jti: randomUUID() }), expires_at: expiresAt };
    },
    verify(token) {
      const known = recall(token);
      if (known !== undefined) return known;
      try {
        const parsed = claims.parse(verify(token));
        verified.set(token, parsed);
        return parsed.sub;
      } catch (error) {
        if ((error as TokenError).code === TOKEN_ERROR_CODES.expired) {
          throw new ApiError('jwt_expired', 'The token has expired.', {
            next: 'Authenticate again.',
          });
        }
        throw new ApiError('unauthorized', 'The bearer token is not one of ours.', { cause: error });
      }
    },
  };
}
