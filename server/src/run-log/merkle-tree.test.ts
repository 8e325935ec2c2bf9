import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { leafOf, merkleTree, NODE_BYTES, proofOffsets } from './merkle-tree.js';

const sha256 = (...parts: Uint8Array[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
const leaf = (index: number) => leafOf(Buffer.from(`run ${index}`));
const leavesOf = (count: number) => Array.from({ length: count }, (_, index) => leaf(index));

/** RFC 6962, section 2.1, over hashed leaves. */
function treeHash(leaves: Buffer[]): Buffer {
  if (leaves.length === 1) return leaves[0] as Buffer;
  const k = 2 ** Math.floor(Math.log2(leaves.length - 1));
  return sha256(Buffer.of(1), treeHash(leaves.slice(0, k)), treeHash(leaves.slice(k)));
}
function path(leaves: Buffer[], index: number): Buffer[] {
  if (leaves.length === 1) return [];
  const k = 2 ** Math.floor(Math.log2(leaves.length - 1));
  return index < k
    ? [...path(leaves.slice(0, k), index), treeHash(leaves.slice(k))]
    : [...path(leaves.slice(k), index - k), treeHash(leaves.slice(0, k))];
}
const nodeAt = (nodes: Buffer, offset: number) => nodes.subarray(offset, offset + NODE_BYTES);

it('a leaf is SHA-256 over a zero byte and its content [MON-8]', () => {
  expect(leafOf(Buffer.from('x'))).toEqual(sha256(Buffer.of(0), Buffer.from('x')));
});

it('trees and proofs of 1 to 300 leaves match RFC 6962: an odd leaf is not doubled [MON-8]', async () => {
  for (let count = 1; count <= 300; count += 1) {
    const leaves = leavesOf(count);
    const nodes = await merkleTree(Buffer.concat(leaves));
    expect(nodes.subarray(-NODE_BYTES)).toEqual(treeHash(leaves));
  }
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 300 }), fc.nat(), async (count, place) => {
      const leaves = leavesOf(count);
      const nodes = await merkleTree(Buffer.concat(leaves));
      const index = place % count;
      expect(nodeAt(nodes, index * NODE_BYTES)).toEqual(leaves[index]);
      expect(proofOffsets(count, index).map((offset) => nodeAt(nodes, offset))).toEqual(path(leaves, index));
    }),
  );
});

it('the largest batch is hashed in many turns of the event loop, a few hundred hashes each', async () => {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const nodes = await merkleTree(Buffer.alloc(65_536 * NODE_BYTES, 7));
  isOver = true;
  expect(nodes.length).toBe((2 * 65_536 - 1) * NODE_BYTES);
  expect(turns).toBeGreaterThan(65_535 / 512);
});
