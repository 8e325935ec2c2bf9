import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as dagJson from '@ipld/dag-json';
import { CID } from 'multiformats/cid';
import * as raw from 'multiformats/codecs/raw';
import { sha256 } from 'multiformats/hashes/sha2';
import { createDeadline } from '../platform/deadline.js';

/** Plain JSON, of the multicodec table. */
const JSON_CODE = 0x02_00;
const TIMEOUT_MS = 20_000;

/** A URI that is refused; the message gives its sender the reason. */
export class ContentRefusal extends Error {
  override readonly name = 'ContentRefusal';
}

/** The store that holds a content does not answer. */
export class ContentUnavailableError extends Error {
  override readonly name = 'ContentUnavailableError';
}

/** A content, and what it is by its address. */
interface AddressedContent {
  bytes: Buffer;
  mediaType: 'application/json' | 'application/octet-stream';
}

/** Reads what is stored under the hash of its content. */
export interface ContentReader {
  /**
   * Reads `ipfs://<cid>`: from our own store, or else by the operator's gateway, whose word counts for nothing: what
   * comes is checked against the hash in the address.
   *
   * @throws ContentRefusal for an address that cannot be read or leads to nothing; ContentUnavailableError when the
   * gateway does not answer.
   */
  read(uri: string, maxBytes: number): Promise<AddressedContent>;
}

export function createContentReader(options: {
  folder: string;
  /** Base URL of an IPFS gateway. Absent: only what is in the folder is read. */
  gatewayUrl: string | undefined;
}): ContentReader {
  const { folder, gatewayUrl } = options;
  return {
    async read(uri, maxBytes) {
      const cid = parseAddress(uri);
      const own = await readFile(join(folder, `${cid.toString()}.json`)).catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return undefined;
          throw error;
        },
      );
      const bytes =
        own ?? (gatewayUrl === undefined ? undefined : await fetchBlock(gatewayUrl, cid, maxBytes));
      if (bytes === undefined)
        throw new ContentRefusal('there is no such content in the stores that are read here');
      if (bytes.length > maxBytes) throw new ContentRefusal(`it is larger than ${maxBytes} bytes`);
      const actual = await sha256.digest(bytes);
      if (!CID.create(1, cid.code, actual).equals(cid)) {
        throw new ContentRefusal('what is stored there does not match the hash in the address');
      }
      return { bytes, mediaType: cid.code === raw.code ? 'application/octet-stream' : 'application/json' };
    },
  };
}

/** @throws ContentRefusal */
function parseAddress(uri: string): CID {
  let cid: CID;
  try {
    cid = CID.parse(uri.replace(/^ipfs:\/\//, ''));
  } catch {
    throw new ContentRefusal('it is not an address of the form ipfs://<cid>');
  }
  const isReadable = [raw.code, dagJson.code, JSON_CODE].includes(cid.code);
  if (cid.version !== 1 || !isReadable || cid.multihash.code !== sha256.code) {
    throw new ContentRefusal(
      'only contents of one block are read: CID version 1, raw or JSON, with SHA-256 (`ipfs add --raw-leaves` of a small file)',
    );
  }
  return cid;
}

/** One block as it is stored; undefined when the gateway has none. @throws ContentUnavailableError */
async function fetchBlock(gatewayUrl: string, cid: CID, maxBytes: number): Promise<Buffer | undefined> {
  const deadline = createDeadline(TIMEOUT_MS);
  try {
    const response = await fetch(`${gatewayUrl.replace(/\/$/, '')}/ipfs/${cid.toString()}?format=raw`, {
      headers: { accept: 'application/vnd.ipld.raw' },
      signal: deadline.signal,
    });
    if (!response.ok) {
      await response.body?.cancel();
      if (response.status === 404 || response.status === 410) return undefined;
      throw new Error(`it answered ${response.status}`);
    }
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of response.body ?? []) {
      chunks.push(chunk);
      size += chunk.length;
      // Leaving the loop hangs up.
      if (size > maxBytes) break;
    }
    return Buffer.concat(chunks);
  } catch (cause) {
    throw new ContentUnavailableError('The IPFS gateway does not answer.', { cause });
  } finally {
    deadline.clear();
  }
}
