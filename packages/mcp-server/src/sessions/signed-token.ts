import { createHmac, timingSafeEqual } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';

/** What a client carries for the server, so that no replica has to keep it: read back only when a replica wrote it. */
export interface TokenSigner {
  /** A token of visible ASCII characters. @param purpose a token for one purpose is none for another */
  write(purpose: string, value: unknown): string;
  /** What was written; absent for a token that no replica wrote for this purpose. */
  read(purpose: string, token: string): unknown;
}

/** Longest token that is looked at. */
const MAX_LENGTH = 8_192;

/** Makes a signer (HMAC-SHA256). @param secret the same on every replica and after a restart; at least 32 bytes */
export function createTokenSigner(secret: Uint8Array): TokenSigner {
  const sign = (purpose: string, payload: string) =>
    createHmac('sha256', secret).update(`${purpose}.${payload}`).digest();
  return {
    write(purpose, value) {
      const payload = deflateRawSync(JSON.stringify(value)).toString('base64url');
      return `${payload}.${sign(purpose, payload).toString('base64url')}`;
    },
    read(purpose, token) {
      const [payload, signature, more] = token.length > MAX_LENGTH ? [] : token.split('.');
      if (payload === undefined || signature === undefined || more !== undefined) return undefined;
      const given = Buffer.from(signature, 'base64url');
      const expected = sign(purpose, payload);
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
      return JSON.parse(inflateRawSync(Buffer.from(payload, 'base64url')).toString());
    },
  };
}
