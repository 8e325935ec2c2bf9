import fc from 'fast-check';
import nacl from 'tweetnacl';
import { describe, expect, it } from 'vitest';
import { isPrimeOrderPoint, libraryEquation, platformEquation } from './equation.js';
import { edgeCases } from './testing/forgeries.js';

const seed = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe('the equation', () => {
  it('holds by the platform exactly where it holds by the library [ID-54]', () => {
    // Where R is the identity they differ. The strict check refuses it before.
    const edges = Object.values(edgeCases()).filter(
      ({ publicKey, signature }) => isPrimeOrderPoint(publicKey) && signature[0] !== 1,
    );
    expect(edges.length).toBeGreaterThan(0);
    for (const edge of edges) expect(platformEquation?.(edge)).toBe(libraryEquation(edge));
    fc.assert(
      fc.property(seed, fc.uint8Array({ maxLength: 100 }), fc.option(fc.nat(511)), (secret, message, bit) => {
        const { publicKey, secretKey } = nacl.sign.keyPair.fromSeed(secret);
        const signature = nacl.sign.detached(message, secretKey);
        if (bit !== null) signature[bit >> 3] = (signature[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const signed = { signature, message, publicKey };
        expect(platformEquation?.(signed)).toBe(bit === null);
        expect(libraryEquation(signed)).toBe(bit === null);
      }),
      { numRuns: 40 },
    );
  });

  it('does not hold for bytes that are no point', () => {
    const signature = new Uint8Array(64).fill(255);
    const publicKey = new Uint8Array(32).fill(255);
    for (const equation of [platformEquation, libraryEquation])
      expect(equation?.({ signature, message: new Uint8Array(), publicKey })).toBe(false);
  });
});
