import { createHmac, timingSafeEqual } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** State that a client carries for the server, so that no replica has to keep it: read back only when a replica wrote it. */
export interface TokenSigner {
  /** A token of visible ASCII characters. @param purpose a token for one purpose is none for another */
  write(purpose: string, value: unknown): string;
  /** The written value; absent for a token that no replica wrote for this purpose. */
  read(purpose: string, token: string): unknown;
}

/** Longest token that is looked at. */
const MAX_LENGTH = 8_192;

/**
 * Signs what clients carry: at least 32 bytes, the same on every replica and after a restart. A function is asked each time, so
 * that a secret can be replaced: the first one signs, and what any of them has signed counts.
 */
export type CarriedSecret = Uint8Array | (() => readonly [Uint8Array, ...Uint8Array[]]);

/** The secrets that count now, the one that signs first. */
export function secretsOf(secret: CarriedSecret): readonly [Uint8Array, ...Uint8Array[]] {
  return typeof secret === 'function' ? secret() : [secret];
}

/** Makes a signer (HMAC-SHA256). */
export function createTokenSigner(carriedSecret: CarriedSecret): TokenSigner {
  const sign = (secret: Uint8Array, purpose: string, payload: string) =>
    createHmac('sha256', secret).update(`${purpose}.${payload}`).digest();
  return {
    write(purpose, value) {
      const payload = deflateRawSync(JSON.stringify(value)).toString('base64url');
      const [secret] = secretsOf(carriedSecret);
      return `${payload}.${sign(secret, purpose, payload).toString('base64url')}`;
    },
    read(purpose, token) {
      const [payload, signature, more] = token.length > MAX_LENGTH ? [] : token.split('.');
      if (payload === undefined || signature === undefined || more !== undefined) return undefined;
      const given = Buffer.from(signature, 'base64url');
      const isOurs = (secret: Uint8Array) => {
        const expected = sign(secret, purpose, payload);
        return given.length === expected.length && timingSafeEqual(given, expected);
      };
      if (!secretsOf(carriedSecret).some(isOurs)) return undefined;
      return JSON.parse(inflateRawSync(Buffer.from(payload, 'base64url')).toString());
    },
  };
}
