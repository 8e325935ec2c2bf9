import * as dagJson from '@ipld/dag-json';
import * as dagPb from '@ipld/dag-pb';
import { UnixFS } from 'ipfs-unixfs';
import { walkPath } from 'ipfs-unixfs-exporter';
import { createUnsafe } from 'multiformats/block';
import type { CID } from 'multiformats/cid';
import { identity } from 'multiformats/hashes/identity';
import type { BlockStore } from '../blocks/block-store.js';
import type { DagScope } from './answer-form.js';

/** Steps that a path may have. */
export const MAX_PATH_STEPS = 64;
/** Blocks that one answer reads at most, repeated ones counted each time. */
const MAX_BLOCKS_READ = 20_000;
/** Bytes of blocks that one answer holds at most. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** A content is not here, or not whole; the message is for the caller. */
export class MissingContentError extends Error {
  override readonly name = 'MissingContentError';
}

/** More is asked for than one answer gives. */
export class ContentTooLargeError extends Error {
  override readonly name = 'ContentTooLargeError';
}

/** A block with the address that names it. */
export interface NamedBlock {
  readonly cid: CID;
  readonly bytes: Uint8Array;
}

/** Blocks of the server's own store as one answer reads them: bounded, and a missing one is an error. */
export interface AnswerBlocks {
  read(cid: CID): Promise<Uint8Array>;
  /** For the UnixFS exporter. */
  readonly storage: { get(cid: CID): AsyncGenerator<Uint8Array> };
}

/** Reads of one answer. `onRead` hears of each block that the path or the content takes. */
export function answerBlocks(
  store: BlockStore,
  onRead: (block: NamedBlock) => void = () => {},
): AnswerBlocks {
  let reads = 0;
  const read = async (cid: CID): Promise<Uint8Array> => {
    reads += 1;
    if (reads > MAX_BLOCKS_READ) throw new ContentTooLargeError(`it has more than ${MAX_BLOCKS_READ} blocks`);
    const bytes = cid.multihash.code === identity.code ? cid.multihash.digest : await store.get(cid);
    if (bytes === undefined) throw new MissingContentError(`${cid.toString()} is not here`);
    onRead({ cid, bytes });
    return bytes;
  };
  return {
    read,
    storage: {
      async *get(cid) {
        yield await read(cid);
      },
    },
  };
}

/**
 * Follows a path from a root.
 *
 * @returns the content at its end, and the blocks that lead there.
 * @throws MissingContentError, also for a path that leads nowhere.
 */
export async function resolvePath(
  store: BlockStore,
  root: CID,
  steps: readonly string[],
): Promise<{ cid: CID; roots: CID[]; blocks: NamedBlock[] }> {
  const blocks: NamedBlock[] = [];
  if (steps.length === 0) return { cid: root, roots: [root], blocks };
  const { storage } = answerBlocks(store, (block) => blocks.push(block));
  const roots: CID[] = [];
  try {
    for await (const { cid } of walkPath([root.toString(), ...steps].join('/'), storage)) roots.push(cid);
  } catch (error) {
    if (error instanceof MissingContentError || error instanceof ContentTooLargeError) throw error;
    throw new MissingContentError('the path leads nowhere', { cause: error });
  }
  const cid = roots.at(-1) ?? root;
  // A path inside of a block ends at a value, which has no address.
  if (roots.length !== steps.length + 1) throw new MissingContentError('the path leads into a block');
  return { cid, roots, blocks };
}

/**
 * The blocks of a CAR, depth first.
 *
 * @throws MissingContentError, ContentTooLargeError
 */
export async function* blocksOf(
  store: BlockStore,
  resolved: { cid: CID; blocks: readonly NamedBlock[] },
  { scope, withRepeats }: { scope: DagScope; withRepeats: boolean },
): AsyncGenerator<NamedBlock> {
  const { read } = answerBlocks(store);
  const sent = new Set<string>();
  let size = 0;
  const isNew = ({ cid, bytes }: NamedBlock): boolean => {
    // An identity address holds its own bytes.
    if (cid.multihash.code === identity.code) return false;
    const key = cid.toString();
    if (sent.has(key) && !withRepeats) return false;
    sent.add(key);
    size += bytes.length;
    if (size > MAX_ANSWER_BYTES)
      throw new ContentTooLargeError(`it is larger than ${MAX_ANSWER_BYTES} bytes`);
    return true;
  };
  for (const block of resolved.blocks) if (!block.cid.equals(resolved.cid) && isNew(block)) yield block;
  // The next to be read is at the end.
  const ahead: CID[] = [resolved.cid];
  for (let cid = ahead.pop(); cid !== undefined; cid = ahead.pop()) {
    if (sent.has(cid.toString()) && !withRepeats) continue;
    const block = { cid, bytes: await read(cid) };
    if (isNew(block)) yield block;
    ahead.push(...linksToFollow(block, scope).toReversed());
  }
}

/** The links of a block that a scope follows. */
function linksToFollow(block: NamedBlock, scope: DagScope): CID[] {
  switch (scope) {
    case 'block':
      return [];
    case 'all':
      return linksOf(block);
    case 'entity':
      return entityLinks(block);
    default:
      return scope satisfies never;
  }
}

function linksOf({ cid, bytes }: NamedBlock): CID[] {
  if (cid.code === dagPb.code) return dagPb.decode(bytes).Links.map(({ Hash }) => Hash);
  if (cid.code !== dagJson.code) return [];
  const block = createUnsafe({ bytes, cid, codec: dagJson });
  return [...block.links()].map(([, link]) => link);
}

/** A file is all its parts, a directory its own blocks: the names, and where they lead. */
function entityLinks({ cid, bytes }: NamedBlock): CID[] {
  if (cid.code !== dagPb.code) return [];
  const { Data, Links } = dagPb.decode(bytes);
  const type = Data === undefined ? undefined : UnixFS.unmarshal(Data).type;
  if (type === 'directory') return [];
  if (type !== 'hamt-sharded-directory') return Links.map(({ Hash }) => Hash);
  // Two characters are a place in the shard; what follows them is a name, which leads to another entity.
  return Links.filter(({ Name }) => Name?.length === 2).map(({ Hash }) => Hash);
}
