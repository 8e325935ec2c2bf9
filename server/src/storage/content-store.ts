import { open, readFile, mkdir, rename, rm } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import * as dagJson from '@ipld/dag-json';
import { CID } from 'multiformats/cid';
import { sha256 } from 'multiformats/hashes/sha2';

/** Keeps public documents under the hash of their content. What was published is never removed. */
export interface ContentStore {
  /** Stores a JSON document (DAG-JSON, so that equal documents have one form) and gives its `ipfs://` URI. */
  putJson(document: unknown): Promise<string>;
  /** Reads a document back, checked against its hash; null when it is not here. */
  getJson(uri: string): Promise<unknown>;
  /** Removes a document that nothing refers to; one that is not here is no error. */
  remove(uri: string): Promise<void>;
}

/** A content-addressed folder: real CIDs (version 1), without a network. */
export function createFolderContentStore(folder: string): ContentStore {
  const pathOf = (cid: CID) => join(folder, `${cid.toString()}.json`);
  return {
    async putJson(document) {
      const bytes = dagJson.encode(document);
      const cid = CID.create(1, dagJson.code, await sha256.digest(bytes));
      await writeDurably(pathOf(cid), bytes);
      return `ipfs://${cid.toString()}`;
    },
    async getJson(uri) {
      const cid = CID.parse(uri.replace(/^ipfs:\/\//, ''));
      const bytes = await readFile(pathOf(cid)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null;
        throw error;
      });
      if (bytes === null) return null;
      const actual = CID.create(1, cid.code, await sha256.digest(bytes));
      if (!actual.equals(cid)) throw new Error(`The stored content of ${uri} does not match its hash.`);
      return dagJson.decode(bytes);
    },
    async remove(uri) {
      await rm(pathOf(CID.parse(uri.replace(/^ipfs:\/\//, ''))), { force: true });
    },
  };
}

/** Temporary file, flush, rename, flush of the folder: after a crash the file is whole or absent. */
async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, 'wx', 0o644);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  const directory = await open(folder, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
