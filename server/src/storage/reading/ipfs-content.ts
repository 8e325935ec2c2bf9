import * as dagJson from '@ipld/dag-json';
import * as dagPb from '@ipld/dag-pb';
import { walkPath } from 'ipfs-unixfs-exporter';
import { CID } from 'multiformats/cid';
import * as json from 'multiformats/codecs/json';
import * as raw from 'multiformats/codecs/raw';
import { identity } from 'multiformats/hashes/identity';
import { createDeadline } from '@agent-rental/contract';
import type { OutboundHttp } from '../../platform/outbound-http.js';
import { isCheckable, type BlockStore } from '../blocks/block-store.js';
import { openBlockSession, type BlockSession } from './block-session.js';
import { ContentRefusal, ContentUnavailableError } from './content-errors.js';
import { BLOCKS_AT_ONCE, directoryEntries, fileContent, nodeOf } from '../unixfs.js';
import type { ContentLimits, ReadContent, ReadFile } from './read-content.js';

const READABLE_CODES: readonly number[] = [raw.code, dagPb.code, dagJson.code, json.code];
const MAX_PATH_STEPS = 32;
const READS = 20_000;
const DEPTH = 64;
const TIME_MS = 30_000;
/** What names and links of blocks add to a content. */
const OVERHEAD_BYTES = 2 * 1024 * 1024;

/** Where an `ipfs://` URI leads. */
interface IpfsAddress {
  readonly root: CID;
  readonly path: readonly string[];
}

/**
 * Reads `ipfs://<cid>[/path]`: a file of UnixFS, a block, a JSON document, or a whole directory.
 *
 * @throws ContentRefusal, ContentUnavailableError
 */
export async function readIpfs(
  deps: { blocks: BlockStore; gateways: readonly string[]; outbound: OutboundHttp },
  uri: string,
  limits: ContentLimits,
): Promise<ReadContent> {
  const { root, path } = parseIpfsAddress(uri);
  const deadline = createDeadline(TIME_MS);
  const { signal } = deadline;
  const readLimits = {
    blockBytes: Math.max(limits.fileBytes, limits.directoryBytes) + OVERHEAD_BYTES,
    reads: READS,
    depth: DEPTH,
  };
  try {
    const session = openBlockSession(deps, root, readLimits, signal);
    const cid = await follow(session, root, path);
    const node = nodeOf(cid, await session.get(cid));
    switch (node.kind) {
      case 'document':
        return {
          kind: 'file',
          bytes: bytesWithin(node.bytes, limits.fileBytes),
          mediaType: 'application/json',
        };
      case 'directory':
        return { kind: 'directory', files: await readDirectory(session, cid, limits) };
      case 'file': {
        const isJson = path.at(-1)?.toLowerCase().endsWith('.json') ?? false;
        return {
          kind: 'file',
          bytes: await readFile(session, cid, node.sizeBytes, limits.fileBytes),
          mediaType: isJson ? 'application/json' : 'application/octet-stream',
        };
      }
      default:
        return node satisfies never;
    }
  } catch (error) {
    if (error instanceof ContentRefusal || error instanceof ContentUnavailableError) throw error;
    if (deadline.isOver) throw new ContentUnavailableError('Reading the content takes too long.');
    throw new ContentRefusal(reasonOf(error), { cause: error });
  } finally {
    deadline.clear();
  }
}

/** Where a path from a root leads. */
async function follow(session: BlockSession, root: CID, path: readonly string[]): Promise<CID> {
  if (path.length === 0) return root;
  const storage = {
    async *get(cid: CID) {
      yield await session.get(cid);
    },
  };
  let end = root;
  let left = path.length;
  for await (const { cid, remainder } of walkPath([root.toString(), ...path].join('/'), storage)) {
    end = cid;
    left = remainder?.length ?? 0;
  }
  // A path inside a document leads to a value, which has no hash.
  if (left > 0) throw new ContentRefusal('the path leads nowhere');
  return end;
}

function bytesWithin(bytes: Uint8Array, maxBytes: number): Buffer {
  if (bytes.length > maxBytes) throw new ContentRefusal(`it is larger than ${maxBytes} bytes`);
  return Buffer.from(bytes);
}

async function readFile(
  session: BlockSession,
  cid: CID,
  saidBytes: bigint,
  maxBytes: number,
): Promise<Buffer> {
  const tooLarge = () => new ContentRefusal(`it is larger than ${maxBytes} bytes`);
  // The declared size of a file can only refuse it.
  if (saidBytes > BigInt(maxBytes)) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const part of fileContent(cid, session)) {
    size += part.length;
    if (size > maxBytes) throw tooLarge();
    chunks.push(part);
  }
  return Buffer.concat(chunks);
}

/** Reads a directory and everything below it. */
async function readDirectory(session: BlockSession, root: CID, limits: ContentLimits): Promise<ReadFile[]> {
  const files: ReadFile[] = [];
  const folders = [{ cid: root, steps: [] as string[] }];
  let count = 0;
  let size = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries: { cid: CID; steps: string[] }[] = [];
    for await (const { name, cid } of directoryEntries(folder.cid, session)) {
      count += 1;
      if (count > limits.directoryEntries)
        throw new ContentRefusal(`it has more than ${limits.directoryEntries} entries`);
      const steps = [...folder.steps, name];
      if (steps.length > MAX_PATH_STEPS) throw new ContentRefusal('it has a path that is too deep');
      entries.push({ cid, steps });
    }
    for (const [index, { cid, steps }] of entries.entries()) {
      if (index % BLOCKS_AT_ONCE === 0) {
        await session.fetchAhead(entries.slice(index, index + BLOCKS_AT_ONCE).map((entry) => entry.cid));
      }
      const node = nodeOf(cid, await session.get(cid));
      if (node.kind === 'directory') {
        folders.push({ cid, steps });
        continue;
      }
      const left = limits.directoryBytes - size;
      const bytes =
        node.kind === 'document'
          ? bytesWithin(node.bytes, left)
          : await readFile(session, cid, node.sizeBytes, left);
      size += bytes.length;
      files.push({ path: steps.join('/'), bytes });
    }
  }
  return files;
}

/** @throws ContentRefusal */
function parseIpfsAddress(uri: string): IpfsAddress {
  const [, address = ''] = /^ipfs:\/\/(?:ipfs\/)?([^?#]+)$/.exec(uri) ?? [];
  const [text = '', ...rest] = address.split('/');
  let root: CID;
  let path: string[];
  try {
    root = CID.parse(text);
    path = rest.filter((step) => step !== '').map((step) => decodeURIComponent(step));
  } catch {
    throw new ContentRefusal('it is not an address of the form ipfs://<cid> or ipfs://<cid>/<path>');
  }
  if (path.length > MAX_PATH_STEPS || path.some((step) => step === '..' || step.includes('/')))
    throw new ContentRefusal('its path is not allowed');
  if (!READABLE_CODES.includes(root.code) || !isCheckable(root) || root.multihash.code === identity.code) {
    throw new ContentRefusal(
      'only files, directories, raw blocks and JSON are read, with a SHA-256 or SHA-512 hash',
    );
  }
  return { root, path };
}

/** The exporter's reason for content that it cannot read. */
function reasonOf(error: unknown): string {
  const name = error instanceof Error ? error.name : '';
  return name === 'NotFoundError' ? 'the path leads nowhere' : 'its blocks are no file and no directory';
}
