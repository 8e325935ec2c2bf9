import { createHmac, timingSafeEqual } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** Signs state that a client carries, so that no replica must keep it. Reads only state that a replica wrote. */
export interface TokenSigner {
  /** A token of visible ASCII characters. @param purpose a token is valid for one purpose only */
  write(purpose: string, value: unknown): string;
  /** The written value; undefined for a token that no replica wrote for this purpose. */
  read(purpose: string, token: string): unknown;
}

/** Longest accepted token. */
const MAX_LENGTH = 8_192;

/**
 * Signs the state that clients carry: at least 32 bytes, equal on every replica and after a restart. A function is called each
 * time, so that a secret can be replaced. The first secret signs, and signatures of all its secrets are valid.
 */
export type CarriedSecret = Uint8Array | (() => readonly [Uint8Array, ...Uint8Array[]]);

/** The valid secrets, first the signing one. */
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
