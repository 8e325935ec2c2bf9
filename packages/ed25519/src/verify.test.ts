import { generateKeyPairSync, sign } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import fc from 'fast-check';
import nacl from 'tweetnacl';
import { describe, expect, it } from 'vitest';
import {
  bytesOf,
  edgeCases,
  forgeForSmallOrder,
  NON_CANONICAL_POINTS,
  SMALL_ORDER_POINTS,
} from './testing/forgeries.js';
import { isPublicKey, verifySignature } from './verify.js';

const seed = fc.uint8Array({ minLength: 32, maxLength: 32 });
const smallOrder = Object.values(SMALL_ORDER_POINTS).flat();

/** Bytes with one flipped bit. */
function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

describe('a signature', () => {
  it('of an honest signer passes, whichever implementation made it [ID-54]', () => {
    fc.assert(
      fc.property(seed, fc.uint8Array({ maxLength: 300 }), (secret, message) => {
        const { publicKey, secretKey } = nacl.sign.keyPair.fromSeed(secret);
        expect(isPublicKey(publicKey)).toBe(true);
        for (const signature of [nacl.sign.detached(message, secretKey), ed25519.sign(message, secret)]) {
          expect(verifySignature({ signature, message, publicKey })).toBe(true);
        }
      }),
      { numRuns: 30 },
    );
    const { privateKey, publicKey: key } = generateKeyPairSync('ed25519');
    const publicKey = new Uint8Array(key.export({ format: 'der', type: 'spki' }).subarray(-32));
    const message = Buffer.from('by OpenSSL');
    expect(verifySignature({ signature: sign(null, message, privateKey), message, publicKey })).toBe(true);
  });

  it('with any bit of it, of the message or of the key changed does not pass', () => {
    const { publicKey, secretKey } = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(9));
    const message = Buffer.from('a message');
    const honest = { signature: nacl.sign.detached(message, secretKey), message, publicKey };
    fc.assert(
      fc.property(fc.nat(511), fc.nat(255), fc.nat(71), (inSignature, inKey, inMessage) => {
        const changed = [
          { ...honest, signature: flipped(honest.signature, inSignature) },
          { ...honest, publicKey: flipped(publicKey, inKey) },
          { ...honest, message: flipped(message, inMessage) },
        ];
        for (const one of changed) expect(verifySignature(one)).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  it.each(Object.entries(edgeCases()))('of case %s does not pass [ID-54]', (_, forged) => {
    expect(verifySignature(forged)).toBe(false);
  });

  it('of most cases passes a lenient check, so the cases have the described form', () => {
    const lenient = Object.values(edgeCases()).map(({ signature, message, publicKey }) =>
      ed25519.verify(signature, message, publicKey, { zip215: true }),
    );
    // S above the order is refused by the lenient rules too. 8 and 9 hold for checks that hash R as it came, which this
    // library does not.
    expect(lenient).toEqual([
      ...Array<boolean>(6).fill(true),
      ...Array<boolean>(4).fill(false),
      ...Array<boolean>(3).fill(true),
    ]);
  });

  it.each([
    ['empty', new Uint8Array()],
    ['too short', new Uint8Array(63)],
    ['too long', new Uint8Array(65)],
    ['of zeros', new Uint8Array(64)],
    ['of ones', new Uint8Array(64).fill(255)],
  ])('that is %s does not pass, and is no error', (_, signature) => {
    const { publicKey } = nacl.sign.keyPair.fromSeed(new Uint8Array(32).fill(9));
    expect(verifySignature({ signature, message: new Uint8Array(), publicKey })).toBe(false);
  });
});

describe('a public key', () => {
  it.each(smallOrder)('of small order is none: %s [ID-54]', (hex) => {
    const publicKey = bytesOf(hex);
    expect(isPublicKey(publicKey)).toBe(false);
    let forgeries = 0;
    for (let count = 0; count < 40; count += 1) {
      const forged = forgeForSmallOrder(publicKey, Buffer.from(`challenge ${count}`));
      if (forged === undefined) continue;
      forgeries += 1;
      // The previous check accepts each of them.
      expect(nacl.sign.detached.verify(forged.message, forged.signature, publicKey)).toBe(true);
      expect(verifySignature(forged)).toBe(false);
    }
    expect(forgeries).toBeGreaterThan(0);
  });

  it.each(NON_CANONICAL_POINTS)('in an encoding that is not canonical is none: %s [ID-54]', (hex) => {
    expect(isPublicKey(bytesOf(hex))).toBe(false);
  });

  it('with a part of small order is none', () => {
    const torsion = ed25519.Point.fromBytes(bytesOf(SMALL_ORDER_POINTS[8][1]), false);
    expect(isPublicKey(ed25519.Point.BASE.multiply(77n).toBytes())).toBe(true);
    expect(isPublicKey(ed25519.Point.BASE.multiply(77n).add(torsion).toBytes())).toBe(false);
  });

  it.each([0, 31, 33, 64])('of %i bytes is none', (length) => {
    expect(isPublicKey(new Uint8Array(length).fill(1))).toBe(false);
  });

  it('off the curve is none, as every program-derived address is', () => {
    fc.assert(
      fc.property(seed, (bytes) => {
        let isOnCurve = true;
        try {
          ed25519.Point.fromBytes(bytes, false);
        } catch {
          isOnCurve = false;
        }
        return isOnCurve || !isPublicKey(bytes);
      }),
      { numRuns: 60 },
    );
  });
});
