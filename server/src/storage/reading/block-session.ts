import * as dagPb from '@ipld/dag-pb';
import type { CID } from 'multiformats/cid';
import { identity } from 'multiformats/hashes/identity';
import type { OutboundHttp } from '../../platform/outbound-http.js';
import {
  blockKey,
  CorruptBlockError,
  isBlockOf,
  isCheckable,
  MAX_BLOCK_BYTES,
  type BlockStore,
} from '../blocks/block-store.js';
import type { Blocks } from '../unixfs.js';
import { ContentRefusal, ContentUnavailableError } from './content-errors.js';
import { askGateway, GatewayError, readBytes } from './gateway-requests.js';

/** Limits of the reading of one content. */
export interface ReadLimits {
  /** Of all blocks together, links and names included. */
  readonly blockBytes: number;
  /** Reads of blocks; a block that is linked to again is read again. */
  readonly reads: number;
  /** Blocks from the root to the deepest leaf. */
  readonly depth: number;
}

/** A block comes within this time, or another gateway is asked. */
const BLOCK_TIMEOUT_MS = 8_000;
/** Links that blocks may have together. */
const MAX_LINKS = 50_000;

/** Reads the blocks of one content. Every block was checked against its address. */
export interface BlockSession extends Blocks {
  /**
   * @throws ContentRefusal for absent content, for content that does not match its address, and beyond a limit.
   * ContentUnavailableError where a gateway that might have it did not answer.
   */
  get(cid: CID): Promise<Uint8Array>;
}

/** Starts to read a content whose root is `root`. @param signal ends every request. */
export function openBlockSession(
  deps: { blocks: BlockStore; gateways: readonly string[]; outbound: OutboundHttp },
  root: CID,
  limits: ReadLimits,
  signal: AbortSignal,
): BlockSession {
  const { blocks, outbound } = deps;
  const held = new Map<string, Uint8Array>();
  /** Linked blocks, with their depths. A gateway's other blocks are refused. */
  const expected = new Map<string, number>([[blockKey(root), 0]]);
  /** Gateways that gave something else than was asked for; nothing more is asked of them. */
  const liars = new Set<string>();
  let reads = 0;
  let bytesHeld = 0;

  /** Keeps a checked block, and expects its links. @throws ContentRefusal beyond a limit. */
  const keep = (cid: CID, bytes: Uint8Array): void => {
    const key = blockKey(cid);
    if (held.has(key)) return;
    bytesHeld += bytes.length;
    if (bytesHeld > limits.blockBytes)
      throw new ContentRefusal(`it is larger than ${limits.blockBytes} bytes`);
    const links = cid.code === dagPb.code ? dagPb.decode(bytes).Links : [];
    const depth = (expected.get(key) ?? 0) + 1;
    for (const { Hash } of links) {
      const linked = blockKey(Hash);
      if (expected.has(linked)) continue;
      if (depth > limits.depth) throw new ContentRefusal(`its blocks lie more than ${limits.depth} deep`);
      expected.set(linked, depth);
      if (expected.size > MAX_LINKS) throw new ContentRefusal(`it has more than ${MAX_LINKS} links`);
    }
    // Kept last, so that a block beyond a limit is refused each time it is read.
    held.set(key, bytes);
  };

  const ownBlock = (cid: CID): Promise<Uint8Array | undefined> =>
    blocks.get(cid).catch((error: unknown) => {
      if (!(error instanceof CorruptBlockError)) throw error;
      throw new ContentRefusal('the content there does not match the hash in the address');
    });

  const fetchBlock = async (cid: CID): Promise<Uint8Array> => {
    let mismatch = false;
    let failure: unknown;
    for (const gateway of deps.gateways) {
      if (liars.has(gateway)) {
        mismatch = true;
        continue;
      }
      try {
        const url = `${gateway}/ipfs/${cid.toString()}?format=raw`;
        const headers = { accept: 'application/vnd.ipld.raw' };
        const request = { url, headers, timeoutMs: BLOCK_TIMEOUT_MS, signal };
        const bytes = await askGateway(outbound, request, (response) => readBytes(response, MAX_BLOCK_BYTES));
        if (bytes === undefined) continue;
        if (await isBlockOf(cid, bytes)) return bytes;
        liars.add(gateway);
        mismatch = true;
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        failure ??= error;
      }
    }
    if (failure !== undefined)
      throw new ContentUnavailableError('No IPFS gateway gives the content.', { cause: failure });
    throw new ContentRefusal(
      mismatch
        ? 'the content there does not match the hash in the address'
        : 'there is no such content in the stores that are read here',
    );
  };

  const load = async (cid: CID): Promise<Uint8Array> => {
    if (!isCheckable(cid)) throw new ContentRefusal('it has a hash other than SHA-256 or SHA-512');
    if (cid.multihash.code === identity.code) return cid.multihash.digest;
    const known = held.get(blockKey(cid));
    if (known !== undefined) return known;
    const bytes = (await ownBlock(cid)) ?? (await fetchBlock(cid));
    keep(cid, bytes);
    return bytes;
  };

  return {
    async fetchAhead(cids) {
      await Promise.allSettled([...new Map(cids.map((cid) => [blockKey(cid), cid])).values()].map(load));
    },
    async get(cid) {
      signal.throwIfAborted();
      reads += 1;
      if (reads > limits.reads)
        throw new ContentRefusal(`it takes more than ${limits.reads} reads of blocks`);
      return load(cid);
    },
  };
}
