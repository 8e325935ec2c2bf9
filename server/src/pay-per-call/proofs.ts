import { createHmac, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from '@agent-rental/contract';
import type { KeyRing } from '../service-keys/index.js';

const digest = (secret: Buffer, text: string): Buffer => createHmac('sha256', secret).update(text).digest();

/** The proof that a challenge or a quote is ours, in base64url. Any replica can check it. */
export const proofOf = (ring: KeyRing, text: string): string =>
  digest(ring.present('payments').secret, text).toString('base64url');

/** Whether a proof of this text is ours, also by a key that was replaced a moment ago. */
export function isProofOf(ring: KeyRing, text: string, proof: string): boolean {
  const given = Buffer.from(proof, 'base64url');
  return ring.accepted('payments').some(({ secret }) => {
    const expected = digest(secret, text);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** JSON in base64url, with its keys in order. */
export const toBase64Url = (value: unknown): string =>
  Buffer.from(canonicalJson(value)).toString('base64url');

/** JSON in base64 or base64url; undefined for any other text. */
export function fromBase64(text: string | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(text ?? '', 'base64').toString());
  } catch {
    return undefined;
  }
}
