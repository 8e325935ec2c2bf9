import { sign, type KeyObject } from 'node:crypto';
import type { Receipt } from '@agent-rental/contract';
import { LRUCache } from 'lru-cache';
import { ed25519PrivateKey } from '../platform/keys.js';
import type { KeyRing, PublishedKey } from '../service-keys/index.js';

/** Tells a receipt from every other signed thing. */
const TYPE = 'agent-rental-receipt';
/** One signs at a time. */
const MOST_KEYS = 4;

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The bytes that a receipt's signature covers as payload. The same receipt always gives the same bytes. */
export function receiptPayload(receipt: Receipt): Buffer {
  return Buffer.from(JSON.stringify(receipt));
}

/** A key that verifies receipts, as it is published (RFC 7517). Times are Unix seconds. */
interface PublishedJwk {
  kty: 'OKP';
  crv: 'Ed25519';
  x: string;
  kid: string;
  use: 'sig';
  alg: 'EdDSA';
  /** When it began to sign; absent for the first key. */
  nbf?: number;
  /** When it signed last; absent while it signs. */
  exp?: number;
  /** It leaked: its signatures are no evidence any more. As OpenID Federation has it. */
  revoked?: { revoked_at: number };
}

/** Signs receipts. */
export interface ReceiptSigner {
  /** A compact JWS (RFC 7515, EdDSA). The same receipt and key always give the same text. */
  sign(receipt: Receipt): string;
  /** The public keys as a JWK set, which verify receipts: also former keys, and the next one. */
  jwks(): { keys: PublishedJwk[] };
}

export function createReceiptSigner(ring: KeyRing): ReceiptSigner {
  const privateKeys = new LRUCache<string, KeyObject>({ max: MOST_KEYS });
  return {
    sign(receipt) {
      const { kid, secret } = ring.present('receipts');
      const privateKey = privateKeys.get(kid) ?? ed25519PrivateKey(secret);
      privateKeys.set(kid, privateKey);
      const header = encode({ alg: 'EdDSA', typ: TYPE, kid });
      const signed = `${header}.${receiptPayload(receipt).toString('base64url')}`;
      return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
    },
    jwks: () => ({ keys: ring.published('receipts').map(jwkOf) }),
  };
}

/** The public part of a key as it is published. */
export function jwkOf({ kid, publicKey, signsFrom, signsUntil, revokedAt }: PublishedKey): PublishedJwk {
  return {
    kty: 'OKP',
    crv: 'Ed25519',
    x: publicKey.toString('base64url'),
    kid,
    use: 'sig',
    alg: 'EdDSA',
    ...(signsFrom && { nbf: unixSeconds(signsFrom) }),
    ...(signsUntil && { exp: unixSeconds(signsUntil) }),
    ...(revokedAt && { revoked: { revoked_at: unixSeconds(revokedAt) } }),
  };
}

function unixSeconds(time: Date): number {
  return Math.ceil(time.getTime() / 1000);
}
