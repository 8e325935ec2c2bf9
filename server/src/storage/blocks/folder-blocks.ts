import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as dagJson from '@ipld/dag-json';
import type { CID } from 'multiformats/cid';
import { blockKey, requireBlockOf, type BlockStore } from './block-store.js';

/** Blocks in files of a folder: for one server, on one machine. */
export function createFolderBlocks(folder: string): BlockStore {
  const pathOf = (cid: CID) =>
    join(folder, `${blockKey(cid)}.${cid.code === dagJson.code ? 'json' : 'block'}`);
  return {
    async get(cid) {
      const bytes = await readFile(pathOf(cid)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      });
      return bytes && requireBlockOf(cid, bytes);
    },
    put: (cid, bytes) => writeDurably(pathOf(cid), bytes),
    remove: (cid) => rm(pathOf(cid), { force: true }),
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
