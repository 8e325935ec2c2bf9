const LEAF_PREFIX = 0;
const NODE_PREFIX = 1;

/** A Merkle proof: the place of a leaf, the number of leaves, and the hashes from its neighbour up. */
export interface MerkleProof {
  leafIndex: number;
  count: number;
  /** 64 hexadecimal digits each. */
  proof: readonly string[];
}

/**
 * Computes the Merkle root from a leaf's content and its proof, by RFC 6962 (section 2.1).
 *
 * - A leaf is the SHA-256 of a zero byte and the content.
 * - A node is the SHA-256 of a one byte and both children.
 * - A node without a neighbour moves up unchanged.
 *
 * @returns 64 hexadecimal digits; undefined for a malformed proof, or one with a wrong number of hashes
 */
export async function rootOf(
  content: Uint8Array,
  { leafIndex, count, proof }: MerkleProof,
): Promise<string | undefined> {
  const isPlace = Number.isSafeInteger(leafIndex) && Number.isSafeInteger(count);
  if (!isPlace || leafIndex < 0 || leafIndex >= count) return undefined;
  let node = await sha256(LEAF_PREFIX, content);
  let used = 0;
  for (
    let index = leafIndex, size = count;
    size > 1;
    index = Math.floor(index / 2), size = Math.ceil(size / 2)
  ) {
    const isRight = index % 2 === 1;
    if (!isRight && index + 1 === size) continue;
    const neighbour = bytesOf(proof[used]);
    if (neighbour === undefined) return undefined;
    node = isRight ? await sha256(NODE_PREFIX, neighbour, node) : await sha256(NODE_PREFIX, node, neighbour);
    used += 1;
  }
  return used === proof.length ? hexOf(node) : undefined;
}

async function sha256(prefix: number, ...parts: Uint8Array[]): Promise<Uint8Array> {
  const all = Uint8Array.of(prefix, ...parts.flatMap((part) => [...part]));
  return new Uint8Array(await crypto.subtle.digest('SHA-256', all));
}

function bytesOf(hex: string | undefined): Uint8Array | undefined {
  if (hex === undefined || !/^[0-9a-f]{64}$/.test(hex)) return undefined;
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
