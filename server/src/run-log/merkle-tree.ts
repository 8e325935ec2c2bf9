import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';

/** SHA-256. */
export const NODE_BYTES = 32;
/** Tells leaves from nodes, so that no node passes for a leaf (RFC 6962, section 2.1). */
const LEAF_PREFIX = Buffer.of(0);
const NODE_PREFIX = Buffer.of(1);
/** Hashes between two turns of the event loop: under a millisecond each time. */
const HASHES_PER_TURN = 256;

/** The leaf of a run: SHA-256 over a zero byte and the bytes that its receipt's signature covers as payload. */
export function leafOf(payload: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([LEAF_PREFIX, payload]), 'buffer');
}

function parentOf(left: Uint8Array, right: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([NODE_PREFIX, left, right]), 'buffer');
}

/** How many nodes each level of a tree has, leaves first. A node without a neighbour moves up as it is. */
function levelSizes(leaves: number): number[] {
  const sizes = [leaves];
  for (let size = leaves; size > 1;) {
    size = Math.ceil(size / 2);
    sizes.push(size);
  }
  return sizes;
}

/**
 * The Merkle tree over leaves, in the shape of RFC 6962 (section 2.1). Its levels come one after the other, leaves first,
 * so the last node is the root. Gives way to other work between hashes.
 *
 * @param leaves at least one, 32 bytes each, one after the other
 */
export async function merkleTree(leaves: Buffer): Promise<Buffer> {
  const sizes = levelSizes(leaves.length / NODE_BYTES);
  const nodes = Buffer.alloc(sizes.reduce((sum, size) => sum + size, 0) * NODE_BYTES);
  leaves.copy(nodes);
  const at = (index: number) => nodes.subarray(index * NODE_BYTES, (index + 1) * NODE_BYTES);
  let start = 0;
  let hashes = 0;
  for (const [level, size] of sizes.slice(0, -1).entries()) {
    const next = start + size;
    for (let index = 0; index < (sizes[level + 1] ?? 0); index += 1) {
      const left = at(start + 2 * index);
      const parent = 2 * index + 1 < size ? parentOf(left, at(start + 2 * index + 1)) : left;
      parent.copy(nodes, (next + index) * NODE_BYTES);
      hashes += 1;
      if (hashes % HASHES_PER_TURN === 0) await setImmediate();
    }
    start = next;
  }
  return nodes;
}

/** The offsets of a leaf's proof in a tree's nodes (RFC 6962, section 2.1.1), in bytes, the leaf's neighbour first. */
export function proofOffsets(leaves: number, leafIndex: number): number[] {
  const offsets: number[] = [];
  let start = 0;
  let index = leafIndex;
  for (const size of levelSizes(leaves).slice(0, -1)) {
    // At an odd end there is no neighbour: the node moves up.
    if ((index ^ 1) < size) offsets.push((start + (index ^ 1)) * NODE_BYTES);
    start += size;
    index >>= 1;
  }
  return offsets;
}
