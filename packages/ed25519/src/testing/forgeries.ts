import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import type { SignedMessage } from '../equation.js';

type Point = InstanceType<typeof ed25519.Point>;

const { BASE, Fn } = ed25519.Point;
const ORDER = Fn.ORDER;

/** The eight points of small order in their canonical encodings, by order. */
export const SMALL_ORDER_POINTS = {
  1: ['0100000000000000000000000000000000000000000000000000000000000000'],
  2: ['ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f'],
  4: [
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0000000000000000000000000000000000000000000000000000000000000080',
  ],
  8: [
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  ],
} as const;

/** Other encodings of points of small order, which lenient decoders take: `y` not below p, or a sign of zero. */
export const NON_CANONICAL_POINTS = [
  '0100000000000000000000000000000000000000000000000000000000000080',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
] as const;

/** Bytes of a hexadecimal text. */
export const bytesOf = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'));

const TORSION = Object.values(SMALL_ORDER_POINTS)
  .flat()
  .map((hex) => ed25519.Point.fromBytes(bytesOf(hex), false));

/** The parts of a point: a multiple of the base point, and a point of small order. */
interface Parts {
  readonly scalar: bigint;
  readonly torsion: Point;
  /** Default: the canonical one. */
  readonly encoding?: Uint8Array;
}

const pointOf = ({ scalar, torsion }: Parts): Point =>
  (scalar === 0n ? ed25519.Point.ZERO : BASE.multiply(scalar)).add(torsion);
const encodingOf = (parts: Parts): Uint8Array => parts.encoding ?? pointOf(parts).toBytes();

function littleEndian(value: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => Number((value >> BigInt(8 * index)) & 0xffn));
}

function challengeOf(...parts: Uint8Array[]): bigint {
  const digest = createHash('sha512').update(Buffer.concat(parts)).digest();
  return Fn.create(digest.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n));
}

/** Which equation a forgery fulfils: the plain one, or only the one multiplied by the cofactor. */
type Equation = 'plain' | 'cofactored';

/**
 * Makes a signature from the given parts, for the first message that fulfils the equation. A key with the scalar 0 needs no
 * private key.
 *
 * @param options.excess a multiple of the group's order, added to `S`
 */
function forge(
  key: Parts,
  nonce: Parts,
  options: { equation: Equation; excess?: bigint; message?: Uint8Array },
): SignedMessage | undefined {
  const [publicKey, r] = [encodingOf(key), encodingOf(nonce)];
  for (let attempt = 0; attempt < 256; attempt += 1) {
    const message = options.message ?? Buffer.from(`message ${attempt}`);
    const k = challengeOf(r, publicKey, message);
    const left = nonce.torsion.add(key.torsion.multiplyUnsafe(k % 8n));
    if (left.is0() === (options.equation === 'plain')) {
      const s = Fn.create(nonce.scalar + k * key.scalar) + (options.excess ?? 0n);
      return { publicKey, message, signature: new Uint8Array([...r, ...littleEndian(s)]) };
    }
    if (options.message !== undefined) return undefined;
  }
  throw new Error('No message gives such a signature.');
}

/** A signature over a message for a key of small order, made without any private key; undefined where there is none. */
export function forgeForSmallOrder(publicKey: Uint8Array, message: Uint8Array): SignedMessage | undefined {
  const torsion = ed25519.Point.fromBytes(publicKey, true);
  for (const nonce of TORSION) {
    const forged = forge(
      { scalar: 0n, torsion, encoding: publicKey },
      { scalar: 0n, torsion: nonce },
      { equation: 'plain', message },
    );
    if (forged !== undefined) return forged;
  }
  return undefined;
}

/** The kinds of edge cases on which implementations of ed25519 disagree; none is made by an honest signer. */
export function edgeCases(): Record<string, SignedMessage> {
  const zero = ed25519.Point.ZERO;
  const order8 = ed25519.Point.fromBytes(bytesOf(SMALL_ORDER_POINTS[8][0]), false);
  const identity = (encoding: string): Parts => ({ scalar: 0n, torsion: zero, encoding: bytesOf(encoding) });
  const order4 = (encoding: string): Parts => {
    const bytes = bytesOf(encoding);
    return { scalar: 0n, torsion: ed25519.Point.fromBytes(bytes, true), encoding: bytes };
  };
  const honest: Parts = { scalar: 123_456_789n, torsion: zero };
  const nonce: Parts = { scalar: 987_654_321n, torsion: zero };
  const small: Parts = { scalar: 0n, torsion: order8 };
  const mixedKey: Parts = { ...honest, torsion: order8 };
  const mixedNonce: Parts = { ...nonce, torsion: order8 };
  const all: [string, Parts, Parts, Equation, bigint?][] = [
    ['0: key and R of small order, S is 0', small, small, 'plain'],
    ['1: key of small order, R mixed', small, mixedNonce, 'plain'],
    ['2: key mixed, R of small order', mixedKey, small, 'plain'],
    ['3: key and R mixed, the plain equation holds', mixedKey, mixedNonce, 'plain'],
    ['4: key and R mixed, only the cofactored equation holds', mixedKey, mixedNonce, 'cofactored'],
    ['5: key mixed, R of prime order, only the cofactored equation holds', mixedKey, nonce, 'cofactored'],
    ['6: S above the order of the group', honest, nonce, 'plain', ORDER],
    ['7: S far above the order of the group', honest, nonce, 'plain', 14n * ORDER],
    [
      '8: R the identity in an encoding that is not canonical',
      honest,
      identity(NON_CANONICAL_POINTS[4]),
      'plain',
    ],
    ['9: R of small order, with y not below p', mixedKey, order4(NON_CANONICAL_POINTS[2]), 'cofactored'],
    [
      '10: key the identity in an encoding that is not canonical',
      identity(NON_CANONICAL_POINTS[0]),
      nonce,
      'plain',
    ],
    ['11: key of small order, with y not below p', order4(NON_CANONICAL_POINTS[3]), nonce, 'plain'],
    ['12: R the identity, by the owner of the key', honest, { scalar: 0n, torsion: zero }, 'plain'],
  ];
  return Object.fromEntries(
    all.map(([name, key, r, equation, excess = 0n]) => {
      const made = forge(key, r, { equation, excess });
      if (made === undefined) throw new Error(`There is no case ${name}.`);
      return [name, made];
    }),
  );
}
