import { hash } from 'node:crypto';
import { calculateJwkThumbprint, EmbeddedJWK, errors, jwtVerify } from 'jose';
import * as z from 'zod';
import type { UsedOnce } from '../../used-once.js';

/** The signature algorithms of proofs. */
export const PROOF_ALGORITHMS = ['ES256', 'EdDSA', 'Ed25519'];
/** An elliptic key and the claims need less than a quarter. */
const MOST_CHARACTERS = 4_096;
/** How old a proof may be, and how far the clock of a client may be off. */
const MOST_AGE_SECONDS = 60;
const CLOCK_SECONDS = 30;

const claims = z.object({
  jti: z.string().min(1).max(256),
  htm: z.string(),
  htu: z.url(),
  iat: z.number(),
  ath: z.string().optional(),
});

/** The request that a proof is for. */
interface ProvedRequest {
  method: string;
  /** The addresses that the request may have had. */
  urls: readonly string[];
  /** The access token that is sent with it; absent at the token endpoint. */
  token?: string | undefined;
}

/** A proof that fits its request. */
interface Proof {
  /** The thumbprint of its key (RFC 7638). */
  jkt: string;
  /** Uses it up. @throws ProofError for one that was used before */
  use(): Promise<void>;
}

/** The fault of a proof, as the end of a sentence about it. */
export class ProofError extends Error {
  override readonly name = 'ProofError';
}

/** Checks proofs of possession of a key (DPoP, RFC 9449, section 4.3). */
export interface DpopProofs {
  /** Checks a proof without remembering it. @throws ProofError */
  check(proof: string, request: ProvedRequest): Promise<Proof>;
}

/** Makes the check. */
export function createDpopProofs(used: UsedOnce): DpopProofs {
  return {
    async check(proof, { method, urls, token }) {
      if (proof.length > MOST_CHARACTERS)
        throw new ProofError(`is longer than ${MOST_CHARACTERS} characters`);
      const { jkt, jti, htm, htu, iat, ath } = await read(proof);
      if (htm !== method) throw new ProofError('is for another method');
      if (!urls.some((url) => withoutQuery(url) === withoutQuery(htu))) {
        throw new ProofError('is for another address');
      }
      if (token !== undefined && ath !== hash('sha256', token, 'base64url')) {
        throw new ProofError('is for another access token');
      }
      const endsAt = new Date((iat + MOST_AGE_SECONDS + CLOCK_SECONDS) * 1000);
      return {
        jkt,
        async use() {
          if (await used.use(`proof:${jkt}:${jti}`, endsAt)) return;
          throw new ProofError('was used before');
        },
      };
    },
  };
}

async function read(proof: string): Promise<z.output<typeof claims> & { jkt: string }> {
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: PROOF_ALGORITHMS,
      maxTokenAge: MOST_AGE_SECONDS,
      clockTolerance: CLOCK_SECONDS,
    });
    const parsed = claims.safeParse(payload);
    if (!parsed.success) throw new ProofError(`has a wrong ${String(parsed.error.issues[0]?.path[0])}`);
    return { ...parsed.data, jkt: await calculateJwkThumbprint(protectedHeader.jwk ?? {}) };
  } catch (error) {
    if (error instanceof ProofError) throw error;
    throw new ProofError(faultOf(error), { cause: error });
  }
}

function faultOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'is too old';
  if (error instanceof errors.JOSEAlgNotAllowed) return `must be signed with ${PROOF_ALGORITHMS.join(', ')}`;
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'is not signed by the key that it names';
  if (error instanceof errors.JWTClaimValidationFailed) return `has a wrong ${error.claim}`;
  return 'cannot be read';
}

/** Section 4.3, step 9: an address is compared without its query and fragment, in the normal form. */
function withoutQuery(text: string): string {
  const { origin, pathname } = new URL(text);
  return origin + pathname;
}
