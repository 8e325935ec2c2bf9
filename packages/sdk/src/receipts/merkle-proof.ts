const LEAF_PREFIX = 0;
const NODE_PREFIX = 1;

/** A proof: a leaf of a tree of that many leaves, and the hashes from its neighbour up. */
export interface MerkleProof {
  leafIndex: number;
  count: number;
  /** 64 hexadecimal digits each. */
  proof: readonly string[];
}

/**
 * The root to which a proof leads from a leaf's content, in the shape of RFC 6962 (section 2.1): SHA-256 over a zero byte and
 * the content for a leaf, over a one byte and both children for a node; a node without a neighbour moves up as it is.
 *
 * @returns 64 hexadecimal digits; undefined for a proof that has more or fewer hashes than the leaf's place asks for, or none
 * in the right form
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
