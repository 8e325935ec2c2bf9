import { createPublicKey, randomUUID } from 'node:crypto';
import { createSigner, createVerifier, TOKEN_ERROR_CODES, type TokenError } from 'fast-jwt';
import { LRUCache } from 'lru-cache';
import * as z from 'zod';
import { ApiError } from '../errors/api-error.js';
import { ed25519PrivateKey } from '../platform/keys.js';
import type { KeyRing, ServiceKey } from '../service-keys/index.js';

const LIFETIME_SECONDS = 3600;
const ISSUER = 'agent-rental';

/** Tokens whose signature is remembered. */
const MOST_VERIFIED = 1000;
/** Keys that count at a time are two or three. */
const MOST_KEYS = 16;

const claims = z.object({ sub: z.string(), exp: z.number() });

/** Issues and verifies the JWTs (EdDSA) of wallets. */
export interface Tokens {
  issue(wallet: string): { token: string; expires_at: number };
  /**
   * The wallet of a token.
   *
   * @throws ApiError `jwt_expired`, or `unauthorized` for any other fault.
   */
  verify(token: string): Promise<string>;
  /** The wallet of a token that was verified before and has not expired; costs no check of a signature. */
  recall(token: string): string | undefined;
}

/** Makes the token issuer. */
export function createTokens(ring: KeyRing): Tokens {
  const signerOf = ofEachKey(({ kid, secret }) =>
    createSigner({
      key: ed25519PrivateKey(secret).export({ format: 'pem', type: 'pkcs8' }),
      algorithm: 'EdDSA',
      iss: ISSUER,
      kid,
    }),
  );
  const verifierOf = ofEachKey(({ secret }) =>
    createVerifier({
      key: createPublicKey(ed25519PrivateKey(secret)).export({ format: 'pem', type: 'spki' }) as string,
      algorithms: ['EdDSA'],
      allowedIss: ISSUER,
      requiredClaims: ['iss', 'sub', 'exp'],
    }),
  );
  // By the token itself: the library's own cache hashes it first, which costs more than everything else that a request
  // is checked for. Who can read this process's memory has the signing key.
  const verified = new LRUCache<string, z.output<typeof claims> & { kid: string }>({ max: MOST_VERIFIED });
  const isAccepted = (kid: string) => ring.accepted('tokens').some((key) => key.kid === kid);
  const recall = (token: string) => {
    const known = verified.get(token);
    return known && known.exp * 1000 > Date.now() && isAccepted(known.kid) ? known.sub : undefined;
  };
  /** The key that a token names. A token of an old release names none: the first key signed it. */
  const keyOf = async (token: string): Promise<ServiceKey | undefined> => {
    const kid = kidOf(token);
    const find = () =>
      ring.accepted('tokens').find((key) => (kid === undefined ? key.number === 1 : key.kid === kid));
    const known = find();
    if (known !== undefined || kid === undefined) return known;
    await ring.refresh();
    return find();
  };
  return {
    recall,
    issue(wallet) {
      const expiresAt = Math.floor(Date.now() / 1000) + LIFETIME_SECONDS;
      const sign = signerOf(ring.present('tokens'));
      return { token: sign({ sub: wallet, exp: expiresAt, jti: randomUUID() }), expires_at: expiresAt };
    },
    async verify(token) {
      const known = recall(token);
      if (known !== undefined) return known;
      const key = await keyOf(token);
      if (key === undefined) throw notOurs();
      try {
        const parsed = claims.parse(verifierOf(key)(token));
        verified.set(token, { ...parsed, kid: key.kid });
        return parsed.sub;
      } catch (error) {
        if ((error as TokenError).code === TOKEN_ERROR_CODES.expired) {
          throw new ApiError('jwt_expired', 'The token has expired.', {
            next: 'Authenticate again.',
          });
        }
        throw notOurs(error);
      }
    },
  };
}

function notOurs(cause?: unknown): ApiError {
  return new ApiError('unauthorized', 'The bearer token is not one of ours.', { cause });
}

/** The key name in a token, unverified. */
function kidOf(token: string): string | undefined {
  try {
    const header = JSON.parse(
      Buffer.from(token.slice(0, token.indexOf('.')), 'base64url').toString(),
    ) as unknown;
    const { kid } = (header ?? {}) as { kid?: unknown };
    return typeof kid === 'string' ? kid : undefined;
  } catch {
    return undefined;
  }
}

/** Makes a value of each key once. */
function ofEachKey<T>(make: (key: ServiceKey) => T): (key: ServiceKey) => T {
  const made = new LRUCache<string, { value: T }>({ max: MOST_KEYS });
  return (key) => {
    const found = made.get(key.kid) ?? { value: make(key) };
    made.set(key.kid, found);
    return found.value;
  };
}
