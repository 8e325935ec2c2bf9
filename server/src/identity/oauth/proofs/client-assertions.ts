import { isPublicKey, verifySignature } from '@agent-rental/ed25519';
import bs58 from 'bs58';
import { decodeJwt, errors, importJWK, jwtVerify } from 'jose';
import type { UsedOnce } from '../../used-once.js';
import { OAuthError } from '../oauth-error.js';

/** The only kind of assertion (RFC 7523, section 2.2). */
const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
/** The names of Ed25519 in RFC 8037 and RFC 9864. */
export const ASSERTION_ALGORITHMS = ['EdDSA', 'Ed25519'];
const MOST_CHARACTERS = 2_048;
const MOST_JTI_CHARACTERS = 256;
/** How long an assertion may count from its making. */
const MOST_SECONDS = 300;
/** How far the clock of a client may be off. */
const CLOCK_SECONDS = 30;

/** The parameters of a token request by which a client shows who it is. */
interface GivenAssertion {
  type: string | undefined;
  assertion: string | undefined;
  /** Absent: the wallet that signed. */
  clientId: string | undefined;
}

/** Knows a program by an assertion that its wallet's key signed. */
export interface ClientAssertions {
  /**
   * Checks an assertion.
   *
   * @param audiences the names of the service: its issuer identifiers and the addresses of its token endpoint
   * @returns the wallet, and what uses the assertion up
   * @throws OAuthError `invalid_request` or `invalid_client`
   */
  check(
    given: GivenAssertion,
    audiences: readonly string[],
  ): Promise<{ wallet: string; use: () => Promise<void> }>;
}

const refused = (why: string) => new OAuthError('invalid_client', `The client assertion ${why}.`);

/** Makes the check. The client is the wallet: its id is the wallet's address, in base58. */
export function createClientAssertions(used: UsedOnce): ClientAssertions {
  return {
    async check({ type, assertion, clientId }, audiences) {
      if (type === undefined || assertion === undefined) {
        throw new OAuthError(
          'invalid_request',
          'A program shows its wallet by client_assertion_type and client_assertion (private_key_jwt).',
        );
      }
      if (type !== ASSERTION_TYPE) throw refused('has another type than jwt-bearer');
      if (assertion.length > MOST_CHARACTERS) throw refused(`is longer than ${MOST_CHARACTERS} characters`);
      const wallet = subjectOf(assertion);
      if (clientId !== undefined && clientId !== wallet) throw refused('is about another client_id');
      const publicKey = bs58.decodeUnsafe(wallet);
      if (publicKey === undefined || !isPublicKey(publicKey)) {
        throw refused('has a sub that is no address of a wallet, in base58');
      }
      if (!isSignedBy(publicKey, assertion)) throw refused('is not signed by the key of its wallet');
      const {
        exp = 0,
        iat = exp - MOST_SECONDS,
        jti = '',
        aud,
      } = await claimsOf(assertion, publicKey, {
        wallet,
        audiences,
      });
      if (Array.isArray(aud) && aud.length > 1) throw refused('is for several services');
      const now = Date.now() / 1000;
      if (exp - iat > MOST_SECONDS || exp > now + MOST_SECONDS + CLOCK_SECONDS) {
        throw refused(`counts for longer than ${MOST_SECONDS} seconds`);
      }
      if (iat > now + CLOCK_SECONDS) throw refused('was made in the future');
      if (typeof jti !== 'string' || jti === '' || jti.length > MOST_JTI_CHARACTERS) {
        throw refused(`needs a jti of at most ${MOST_JTI_CHARACTERS} characters`);
      }
      const endsAt = new Date((exp + CLOCK_SECONDS) * 1000);
      return {
        wallet,
        async use() {
          if (await used.use(`assertion:${wallet}:${jti}`, endsAt)) return;
          throw refused('was used before: make one for each request');
        },
      };
    },
  };
}

/** The subject, unverified. */
function subjectOf(assertion: string): string {
  try {
    return decodeJwt(assertion).sub ?? '';
  } catch {
    throw refused('is no JWT');
  }
}

/** The same strict check as for every other signature of a wallet. */
function isSignedBy(publicKey: Uint8Array, assertion: string): boolean {
  const end = assertion.lastIndexOf('.');
  const signature = Buffer.from(assertion.slice(end + 1), 'base64url');
  return verifySignature({ signature, message: Buffer.from(assertion.slice(0, end)), publicKey });
}

async function claimsOf(
  assertion: string,
  publicKey: Uint8Array,
  { wallet, audiences }: { wallet: string; audiences: readonly string[] },
) {
  const x = Buffer.from(publicKey).toString('base64url');
  const key = await importJWK({ kty: 'OKP', crv: 'Ed25519', x }, 'EdDSA');
  try {
    const { payload } = await jwtVerify(assertion, key, {
      algorithms: ASSERTION_ALGORITHMS,
      issuer: wallet,
      subject: wallet,
      audience: [...audiences],
      clockTolerance: CLOCK_SECONDS,
      requiredClaims: ['exp', 'jti'],
    });
    return payload;
  } catch (error) {
    throw error instanceof errors.JOSEError ? refused(faultOf(error, audiences)) : error;
  }
}

function faultOf(error: errors.JOSEError, audiences: readonly string[]): string {
  if (error instanceof errors.JWTExpired) return 'has expired';
  if (error instanceof errors.JOSEAlgNotAllowed)
    return `must be signed with ${ASSERTION_ALGORITHMS.join(' or ')}`;
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'is no JWT that can be read';
  if (error.claim === 'aud') return `needs the aud ${audiences[0]}`;
  return `has a wrong ${error.claim}`;
}
