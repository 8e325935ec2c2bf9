import type { CID } from 'multiformats/cid';
import { identity } from 'multiformats/hashes/identity';
import { sha256, sha512 } from 'multiformats/hashes/sha2';

/** The largest block that IPFS implementations exchange (2 MiB, the limit of Bitswap and of trustless gateways). */
export const MAX_BLOCK_BYTES = 2 * 1024 * 1024;
/** More than that is content that travels inside its own address. */
const MAX_IDENTITY_BYTES = 128;

/** Blocks of public content under the hash of their bytes. Each block is checked against the hash when it is read. */
export interface BlockStore {
  /**
   * A block, or undefined where it is not here.
   *
   * @throws CorruptBlockError when the stored block has another hash.
   */
  get(cid: CID): Promise<Uint8Array | undefined>;
  /** Stores a block. When the call returns, a crash does not lose it. */
  put(cid: CID, bytes: Uint8Array): Promise<void>;
  /** Removes a block; one that is not here is no error. */
  remove(cid: CID): Promise<void>;
}

/** The content under an address differs from the stored one. */
export class CorruptBlockError extends Error {
  override readonly name = 'CorruptBlockError';
}

/** The name under which a block is kept: versions 0 and 1, in whatever base, name the same bytes. */
export function blockKey(cid: CID): string {
  return cid.toV1().toString();
}

/** Whether blocks with the hash function of an address can be checked here. */
export function isCheckable(cid: CID): boolean {
  const { code, digest } = cid.multihash;
  if (code === identity.code) return digest.length <= MAX_IDENTITY_BYTES;
  return (code === sha256.code && digest.length === 32) || (code === sha512.code && digest.length === 64);
}

/** Whether bytes are the block that an address names. */
export async function isBlockOf(cid: CID, bytes: Uint8Array): Promise<boolean> {
  if (!isCheckable(cid)) return false;
  const { code, digest } = cid.multihash;
  if (code === identity.code) return Buffer.compare(bytes, digest) === 0;
  const hashed = await (code === sha256.code ? sha256 : sha512).digest(bytes);
  return Buffer.compare(hashed.digest, digest) === 0;
}

/** @throws CorruptBlockError */
export async function requireBlockOf(cid: CID, bytes: Uint8Array): Promise<Uint8Array> {
  if (await isBlockOf(cid, bytes)) return bytes;
  throw new CorruptBlockError(`The stored content of ${cid.toString()} does not match its hash.`);
}
