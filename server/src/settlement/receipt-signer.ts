import { createHash, sign } from 'node:crypto';
import type { Receipt } from '@agent-rental/contract';
import type { Keys } from '../platform/keys.js';

/** Tells a receipt from every other signed thing. */
const TYPE = 'agent-rental-receipt';

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The bytes that a receipt's signature covers as payload. The same receipt always gives the same bytes. */
export function receiptPayload(receipt: Receipt): Buffer {
  return Buffer.from(JSON.stringify(receipt));
}

/** Signs receipts. */
export interface ReceiptSigner {
  /** A compact JWS (RFC 7515, EdDSA). The same receipt always gives the same text. */
  sign(receipt: Receipt): string;
  /** The public keys as a JWK set (RFC 7517), which verify receipts. */
  readonly jwks: { keys: object[] };
}

export function createReceiptSigner({ privateKey, publicKey }: Keys['receipt']): ReceiptSigner {
  const { kty, crv, x } = publicKey.export({ format: 'jwk' });
  // The key's thumbprint (RFC 7638): its fields in this order.
  const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url');
  const header = encode({ alg: 'EdDSA', typ: TYPE, kid });
  return {
    sign(receipt) {
      const signed = `${header}.${receiptPayload(receipt).toString('base64url')}`;
      return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
    },
    jwks: { keys: [{ kty, crv, x, kid, use: 'sig', alg: 'EdDSA' }] },
  };
}
