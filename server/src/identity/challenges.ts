import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import bs58 from 'bs58';
import nacl from 'tweetnacl';
import { ApiError } from '../platform/api-error.js';
import type { Db } from '../platform/database/database.js';

/** A challenge lives this long (spec, "Limits"). */
const LIFETIME_SECONDS = 60;
const RANDOM_BYTES = 16;

/** Issues challenges and checks what wallets signed. */
export interface Challenges {
  issue(wallet: string): { challenge: string; expires_at: number };
  /**
   * Accepts a signature over `message(challenge)`, once.
   *
   * @throws ApiError `invalid_signature` when anything about it is wrong; what, stays here.
   */
  redeem(
    attempt: { wallet: string; challenge: string; signature: string },
    message?: (challenge: string) => string,
  ): Promise<void>;
}

/**
 * Challenges carry their own proof (an HMAC over wallet, time and randomness), so that strangers who ask for
 * many of them fill nothing; only redeemed ones are remembered, until they would have expired.
 */
export function createChallenges(db: Db, key: Buffer): Challenges {
  const proof = (wallet: string, issuedAt: string, random: string) =>
    createHmac('sha256', key).update(`${wallet}:${issuedAt}:${random}`).digest();
  const invalid = () =>
    new ApiError(
      'invalid_signature',
      'The signature could not be verified. Get a new challenge and sign it again.',
    );

  return {
    issue(wallet) {
      const issuedAt = Math.floor(Date.now() / 1000);
      const random = randomBytes(RANDOM_BYTES).toString('base64url');
      const mac = proof(wallet, String(issuedAt), random).toString('base64url');
      return {
        challenge: `agent-rental:auth:${issuedAt}:${random}.${mac}`,
        expires_at: issuedAt + LIFETIME_SECONDS,
      };
    },

    async redeem({ wallet, challenge, signature }, message = (text) => text) {
      const match = /^agent-rental:auth:(\d{1,12}):([\w-]+)\.([\w-]+)$/.exec(challenge);
      if (!match) throw invalid();
      const [, issuedAt = '', random = '', mac = ''] = match;
      const expected = proof(wallet, issuedAt, random);
      const given = Buffer.from(mac, 'base64url');
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw invalid();
      const expiresAt = Number(issuedAt) + LIFETIME_SECONDS;
      if (Date.now() / 1000 >= expiresAt) throw invalid();
      if (!verifies(wallet, signature, message(challenge))) throw invalid();
      const digest = createHash('sha256').update(challenge).digest();
      const first = await db
        .insertInto('used_challenges')
        .values({ digest, expires_at: new Date(expiresAt * 1000) })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (first.numInsertedOrUpdatedRows !== 1n) throw invalid();
      await db.deleteFrom('used_challenges').where('expires_at', '<', new Date()).execute();
    },
  };
}

function verifies(wallet: string, signature: string, text: string): boolean {
  try {
    const [publicKey, bytes] = [bs58.decode(wallet), bs58.decode(signature)];
    if (publicKey.length !== nacl.sign.publicKeyLength || bytes.length !== nacl.sign.signatureLength)
      return false;
    return nacl.sign.detached.verify(Buffer.from(text, 'utf8'), bytes, publicKey);
  } catch {
    return false;
  }
}
