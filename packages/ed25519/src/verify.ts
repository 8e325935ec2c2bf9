import { ed25519 } from '@noble/curves/ed25519.js';

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

/** A message, its signature, and the signer's public key. */
export interface SignedMessage {
  readonly signature: Uint8Array;
  readonly message: Uint8Array;
  readonly publicKey: Uint8Array;
}

/**
 * Whether bytes are a public key that has a private key: 32 bytes, the canonical encoding of a point of the prime-order
 * group. Points of small order are refused, because anyone can sign for them without a private key. Program-derived
 * addresses are refused, because they are not on the curve.
 */
export function isPublicKey(bytes: Uint8Array): boolean {
  return bytes.length === KEY_BYTES && isPrimeOrderPoint(bytes);
}

/**
 * Whether the key made the signature over the message. The check is strict, so that all parts of the service agree:
 *
 * - Key and `R` are canonical encodings of points of the prime-order group.
 * - `S` is below the group's order.
 * - The equation holds.
 *
 * @returns false for everything else, malformed bytes included
 */
export function verifySignature({ signature, message, publicKey }: SignedMessage): boolean {
  if (signature.length !== SIGNATURE_BYTES || !isPublicKey(publicKey)) return false;
  if (!isPrimeOrderPoint(signature.subarray(0, KEY_BYTES))) return false;
  // With both points in the prime-order group, the library's cofactored equation equals the plain one.
  return ed25519.verify(signature, message, publicKey, { zip215: false });
}

function isPrimeOrderPoint(bytes: Uint8Array): boolean {
  try {
    const point = ed25519.Point.fromBytes(bytes, false);
    return !point.isSmallOrder() && point.isTorsionFree();
  } catch {
    return false;
  }
}
