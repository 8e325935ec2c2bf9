import { isPrimeOrderPoint, libraryEquation, platformEquation, type SignedMessage } from './equation.js';

const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
const holds = platformEquation ?? libraryEquation;

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
 * - Key and `R` are canonical encodings of points of the prime-order group, and not of its identity.
 * - `S` is below the group's order.
 * - The equation holds.
 *
 * @returns false for everything else, malformed bytes included
 */
export function verifySignature(signed: SignedMessage): boolean {
  const { signature, publicKey } = signed;
  if (signature.length !== SIGNATURE_BYTES || publicKey.length !== KEY_BYTES) return false;
  // The cheap check first: a wrong signature costs little.
  return !hasIdentity(signature) && holds(signed) && isPublicKey(publicKey);
}

/** Whether `R` is the identity, the only point of small order in the prime-order group. */
function hasIdentity(signature: Uint8Array): boolean {
  return signature[0] === 1 && signature.subarray(1, KEY_BYTES).every((byte) => byte === 0);
}
