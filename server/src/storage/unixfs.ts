import * as dagJson from '@ipld/dag-json';
import * as dagPb from '@ipld/dag-pb';
import { UnixFS } from 'ipfs-unixfs';
import type { CID } from 'multiformats/cid';
import * as json from 'multiformats/codecs/json';
import * as raw from 'multiformats/codecs/raw';

/** Checked blocks. */
export interface Blocks {
  /** Reads a block. */
  get(cid: CID): Promise<Uint8Array>;
  /** Fetches blocks at the same time, so that the next reads find them. A failure shows at the read. */
  fetchAhead(cids: readonly CID[]): Promise<void>;
}

/** Blocks that are fetched at the same time. */
export const BLOCKS_AT_ONCE = 8;

/** The content that starts with a block. */
export type ContentNode =
  | { readonly kind: 'file'; readonly sizeBytes: bigint }
  | { readonly kind: 'document'; readonly bytes: Uint8Array }
  | { readonly kind: 'directory' };

/** Blocks that are no file, no directory and no document. */
class UnreadableNodeError extends Error {
  override readonly name = 'UnreadableNodeError';
}

/** The kind of a content, by its first block. @throws UnreadableNodeError */
export function nodeOf(cid: CID, bytes: Uint8Array): ContentNode {
  switch (cid.code) {
    case raw.code:
      return { kind: 'file', sizeBytes: BigInt(bytes.length) };
    case dagJson.code:
    case json.code:
      return { kind: 'document', bytes };
    case dagPb.code: {
      const { unixfs } = decode(bytes);
      if (unixfs.isDirectory()) return { kind: 'directory' };
      return { kind: 'file', sizeBytes: unixfs.fileSize() };
    }
    default:
      throw new UnreadableNodeError(`codec ${cid.code} is not read`);
  }
}

/**
 * The bytes of a file, part by part. Unlike the exporter of the library it reads one thing after another, so that an error
 * of a block has one place to go to.
 *
 * @throws UnreadableNodeError
 */
export async function* fileContent(root: CID, blocks: Blocks): AsyncGenerator<Uint8Array> {
  // The next one is at the end.
  const ahead = [root];
  /** Blocks at the end of the list that were fetched already. */
  let fetched = 0;
  for (let cid = ahead.pop(); cid !== undefined; cid = ahead.pop()) {
    if (fetched === 0) {
      const batch = [cid, ...ahead.slice(1 - BLOCKS_AT_ONCE)];
      await blocks.fetchAhead(batch);
      fetched = batch.length;
    }
    fetched -= 1;
    const bytes = await blocks.get(cid);
    if (cid.code === raw.code) {
      yield bytes;
      continue;
    }
    if (cid.code !== dagPb.code) throw new UnreadableNodeError('a part of the file is no part of a file');
    const { unixfs, links } = decode(bytes);
    if (unixfs.type !== 'file' && unixfs.type !== 'raw')
      throw new UnreadableNodeError('a part of the file is no part of a file');
    if (unixfs.data !== undefined && unixfs.data.length > 0) yield unixfs.data;
    for (const { Hash } of links.toReversed()) ahead.push(Hash);
    if (links.length > 0) fetched = 0;
  }
}

/** The entries of a directory, sharded or not; sub-shards are entered. @throws UnreadableNodeError */
export async function* directoryEntries(
  root: CID,
  blocks: Blocks,
): AsyncGenerator<{ name: string; cid: CID }> {
  const ahead = [root];
  for (let cid = ahead.pop(); cid !== undefined; cid = ahead.pop()) {
    const { unixfs, links } = decode(await blocks.get(cid));
    if (!unixfs.isDirectory()) throw new UnreadableNodeError('a part of the directory is no directory');
    const isSharded = unixfs.type === 'hamt-sharded-directory';
    for (const { Name: name = '', Hash } of links) {
      // Two characters are a place in the shard; a name follows them.
      if (!isSharded) yield { name, cid: Hash };
      else if (name.length > 2) yield { name: name.slice(2), cid: Hash };
      else ahead.push(Hash);
    }
  }
}

function decode(bytes: Uint8Array): { unixfs: UnixFS; links: dagPb.PBLink[] } {
  try {
    const { Data, Links } = dagPb.decode(bytes);
    if (Data === undefined) throw new Error('no data');
    return { unixfs: UnixFS.unmarshal(Data), links: Links };
  } catch (cause) {
    throw new UnreadableNodeError('a block is not of a file or directory', { cause });
  }
}
