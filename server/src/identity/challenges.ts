import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isPublicKey, verifySignature } from '@agent-rental/ed25519';
import bs58 from 'bs58';
import { ApiError } from '../errors/api-error.js';
import type { Db } from '../database/connection.js';
import type { KeyRing, ServiceKey } from '../service-keys/index.js';
import { signedForms } from './off-chain-message.js';
import { createUsedOnce } from './used-once.js';

/** A challenge lives this long (spec, "Limits"). */
const LIFETIME_SECONDS = 60;
const RANDOM_BYTES = 16;
const PROOF_BYTES = 16;
const FORM = /^agent-rental:auth:(\d{1,12}):([0-9a-f]{32})([0-9a-f]{32})$/;

/** A challenge, with its parts. Times are Unix seconds. */
export interface Challenge {
  challenge: string;
  issuedAt: number;
  expiresAt: number;
  /** Its last part: letters and digits only, as the nonce of a sign-in message has to be. */
  nonce: string;
}

/** A signed challenge, to be redeemed. */
interface SignedChallenge {
  wallet: string;
  challenge: string;
  signature: string;
}

/** Issues challenges and checks the signatures of wallets. */
export interface Challenges {
  /**
   * Makes a challenge for a wallet.
   *
   * @throws ApiError `invalid_request` for an address without a private key: off the curve, as program-derived
   *   addresses are, or of small order, for which anyone can make signatures.
   */
  issue(wallet: string): Challenge;
  /**
   * Accepts a signature over `message(challenge)`, once.
   *
   * @param message the text that was signed, undefined when it does not fit; default the challenge itself
   * @throws ApiError `invalid_signature` when anything about it is wrong; what, stays here.
   */
  redeem(attempt: SignedChallenge, message?: (challenge: Challenge) => string | undefined): Promise<void>;
}

/**
 * Challenges carry their own proof (an HMAC over wallet, time and randomness), so strangers who ask for many fill no
 * storage. Only redeemed ones are remembered, until their expiry.
 */
export function createChallenges(db: Db, ring: KeyRing): Challenges {
  const used = createUsedOnce(db);
  const proof = ({ secret }: ServiceKey, wallet: string, issuedAt: string, random: string) =>
    createHmac('sha256', secret).update(`${wallet}:${issuedAt}:${random}`).digest().subarray(0, PROOF_BYTES);
  const describe = (challenge: string, issuedAt: number): Challenge => ({
    challenge,
    issuedAt,
    expiresAt: issuedAt + LIFETIME_SECONDS,
    nonce: challenge.slice(challenge.lastIndexOf(':') + 1),
  });
  const invalid = () =>
    new ApiError(
      'invalid_signature',
      'The signature could not be verified. Get a new challenge and sign it again.',
    );

  return {
    issue(wallet) {
      const publicKey = decoded(wallet);
      if (publicKey === undefined || !isPublicKey(publicKey)) {
        throw new ApiError(
          'invalid_request',
          'wallet: is not the address of a wallet that can sign. Give the public key of an ed25519 key pair, in base58.',
        );
      }
      const issuedAt = Math.floor(Date.now() / 1000);
      const random = randomBytes(RANDOM_BYTES).toString('hex');
      const mac = proof(ring.present('challenges'), wallet, String(issuedAt), random).toString('hex');
      return describe(`agent-rental:auth:${issuedAt}:${random}${mac}`, issuedAt);
    },

    async redeem({ wallet, challenge, signature }, message = (plain) => plain.challenge) {
      const match = FORM.exec(challenge);
      if (!match) throw invalid();
      const [, issuedAt = '', random = '', mac = ''] = match;
      const given = Buffer.from(mac, 'hex');
      const isOurs = (key: ServiceKey) => timingSafeEqual(given, proof(key, wallet, issuedAt, random));
      if (!ring.accepted('challenges').some(isOurs)) throw invalid();
      const described = describe(challenge, Number(issuedAt));
      if (Date.now() / 1000 >= described.expiresAt) throw invalid();
      const text = message(described);
      if (text === undefined || !verifies(wallet, signature, text)) throw invalid();
      if (!(await used.use(challenge, new Date(described.expiresAt * 1000)))) throw invalid();
    },
  };
}

function verifies(wallet: string, signature: string, text: string): boolean {
  const [publicKey, bytes] = [decoded(wallet), decoded(signature)];
  if (publicKey === undefined || bytes === undefined) return false;
  return signedForms(text, publicKey).some((message) =>
    verifySignature({ signature: bytes, message, publicKey }),
  );
}

function decoded(base58: string): Uint8Array | undefined {
  return bs58.decodeUnsafe(base58);
}
