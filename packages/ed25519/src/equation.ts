import { ed25519 } from '@noble/curves/ed25519.js';

/** A message, its signature of 64 bytes, and the signer's public key of 32 bytes. */
export interface SignedMessage {
  readonly signature: Uint8Array;
  readonly message: Uint8Array;
  readonly publicKey: Uint8Array;
}

/** The parts of `node:crypto` that the check uses. */
interface PlatformCrypto {
  createPublicKey(key: { key: Uint8Array; format: 'der'; type: 'spki' }): object;
  verify(algorithm: null, message: Uint8Array, key: object, signature: Uint8Array): boolean;
}

/** The beginning of a public key in the form SPKI (RFC 8410). */
const SPKI = Uint8Array.of(0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00);

/**
 * Whether the equation of RFC 8032 holds without its cofactor, with a canonical `R` and an `S` below the group's order. The key
 * has to be a point of the prime-order group. Then `R` is one, too.
 */
export type Equation = (signed: SignedMessage) => boolean;

/** By the platform's OpenSSL, which takes 0.2 ms. Undefined in a browser. */
export const platformEquation: Equation | undefined = (() => {
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (name: string) => PlatformCrypto | undefined };
  };
  const crypto = process?.getBuiltinModule?.('node:crypto');
  if (crypto === undefined) return undefined;
  return ({ signature, message, publicKey }) => {
    const key = new Uint8Array(SPKI.length + publicKey.length);
    key.set(SPKI);
    key.set(publicKey, SPKI.length);
    try {
      return crypto.verify(
        null,
        message,
        crypto.createPublicKey({ key, format: 'der', type: 'spki' }),
        signature,
      );
    } catch {
      return false;
    }
  };
})();

/** In JavaScript, which takes some 5 ms. The library's equation has the cofactor, which changes nothing for an `R` of the group. */
export const libraryEquation: Equation = ({ signature, message, publicKey }) =>
  isPrimeOrderPoint(signature.subarray(0, publicKey.length)) &&
  ed25519.verify(signature, message, publicKey, { zip215: false });

/** Whether bytes are the canonical encoding of a point of the prime-order group other than its identity. */
export function isPrimeOrderPoint(bytes: Uint8Array): boolean {
  try {
    const point = ed25519.Point.fromBytes(bytes, false);
    return !point.isSmallOrder() && point.isTorsionFree();
  } catch {
    return false;
  }
}
