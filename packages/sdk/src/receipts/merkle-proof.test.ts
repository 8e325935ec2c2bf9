import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rootOf } from './merkle-proof.js';

const sha256 = (...parts: Uint8Array[]) => {
  const all = createHash('sha256');
  for (const part of parts) all.update(part);
  return all.digest();
};
const leaf = (content: Uint8Array) => sha256(Buffer.of(0), content);
const node = (left: Uint8Array, right: Uint8Array) => sha256(Buffer.of(1), left, right);

/** The largest power of two below a number. */
const split = (count: number) => 2 ** Math.floor(Math.log2(count - 1));

/** The definitions of RFC 6962, section 2.1, word for word: the tree's hash, and the path of a leaf. */
function treeHash(leaves: Uint8Array[]): Buffer {
  if (leaves.length === 1) return leaf(leaves[0] as Uint8Array);
  const k = split(leaves.length);
  return node(treeHash(leaves.slice(0, k)), treeHash(leaves.slice(k)));
}
function path(leaves: Uint8Array[], index: number): Buffer[] {
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  return index < k
    ? [...path(leaves.slice(0, k), index), treeHash(leaves.slice(k))]
    : [...path(leaves.slice(k), index - k), treeHash(leaves.slice(0, k))];
}

const contents = (count: number) => Array.from({ length: count }, (_, index) => Buffer.from(`run ${index}`));
const hex = (hashes: Buffer[]) => hashes.map((hash) => hash.toString('hex'));

/** A tree of up to 300 leaves, and one of them with its proof. */
const placed = fc
  .integer({ min: 1, max: 300 })
  .chain((count) => fc.record({ count: fc.constant(count), leafIndex: fc.nat(count - 1) }))
  .map(({ count, leafIndex }) => {
    const leaves = contents(count);
    return {
      count,
      leafIndex,
      content: leaves[leafIndex] as Buffer,
      proof: hex(path(leaves, leafIndex)),
      root: treeHash(leaves).toString('hex'),
    };
  });

describe('a proof', () => {
  it.each([1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 100, 255, 256, 257, 300])(
    'leads from each leaf of a tree of %i to its root [MON-32]',
    async (count) => {
      const leaves = contents(count);
      const root = treeHash(leaves).toString('hex');
      for (const [leafIndex, content] of leaves.entries()) {
        expect(await rootOf(content, { leafIndex, count, proof: hex(path(leaves, leafIndex)) })).toBe(root);
      }
    },
  );

  it('leads nowhere near the root once a byte of content or proof is changed [MON-32]', async () => {
    await fc.assert(
      fc.asyncProperty(placed, fc.nat(), fc.integer({ min: 1, max: 255 }), async (right, at, difference) => {
        const changed = (bytes: Buffer) => {
          const copy = Buffer.from(bytes);
          const place = at % copy.length;
          copy[place] = (copy[place] ?? 0) ^ difference;
          return copy;
        };
        expect(await rootOf(changed(right.content), right)).not.toBe(right.root);
        for (const [index, hash] of right.proof.entries()) {
          const proof = right.proof.with(index, changed(Buffer.from(hash, 'hex')).toString('hex'));
          expect(await rootOf(right.content, { ...right, proof })).not.toBe(right.root);
        }
      }),
    );
  });

  it('is refused at another place, in another order, and with a hash more or less [MON-32]', async () => {
    await fc.assert(
      fc.asyncProperty(placed, fc.nat(400), async (right, other) => {
        const { content, proof, root, leafIndex, count } = right;
        const elsewhere = other === leafIndex ? count : other;
        expect(await rootOf(content, { ...right, leafIndex: elsewhere })).not.toBe(root);
        // The tree is too small for the leaf.
        expect(await rootOf(content, { ...right, count: Math.min(other, leafIndex) })).toBeUndefined();
        const wrongOrders = [proof.toReversed(), [...proof.slice(1), ...proof.slice(0, 1)]];
        for (const order of wrongOrders.filter((one) => one.join('') !== proof.join(''))) {
          expect(await rootOf(content, { ...right, proof: order })).not.toBe(root);
        }
        const wrongLengths = [
          [...proof, 'a'.repeat(64)],
          [root, ...proof],
          proof.slice(1),
          proof.slice(0, -1),
        ];
        for (const wrong of wrongLengths.filter(({ length }) => length !== proof.length)) {
          expect(await rootOf(content, { ...right, proof: wrong })).toBeUndefined();
        }
      }),
    );
  });

  it('of a node in place of a leaf leads nowhere: the two are hashed apart [MON-32]', async () => {
    const [a, b, c, d] = contents(4).map(leaf) as [Buffer, Buffer, Buffer, Buffer];
    const root = node(node(a, b), node(c, d)).toString('hex');
    const proof = [node(c, d).toString('hex')];
    expect(await rootOf(Buffer.concat([a, b]), { leafIndex: 0, count: 2, proof })).not.toBe(root);
  });

  it.each([
    ['a place that is no number', { leafIndex: Number.NaN }],
    ['a place below the first', { leafIndex: -1 }],
    ['a fraction of a place', { leafIndex: 0.5 }],
    ['a tree without an end', { count: Number.POSITIVE_INFINITY }],
    ['a tree of more leaves than can be counted', { count: 2 ** 60 }],
    ['hashes in capitals', { proof: ['A'.repeat(64)] }],
    ['hashes with a sign', { proof: [`-${'1'.repeat(63)}`] }],
    ['short hashes', { proof: ['ab'] }],
  ])('with %s is refused', async (_, wrong) => {
    const right = { leafIndex: 0, count: 2, proof: ['1'.repeat(64)] };
    expect(await rootOf(Buffer.from('x'), right)).toMatch(/^[0-9a-f]{64}$/);
    expect(await rootOf(Buffer.from('x'), { ...right, ...wrong })).toBeUndefined();
  });
});
