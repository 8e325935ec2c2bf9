import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CID } from 'multiformats/cid';
import { isBlockOf, type BlockStore } from './block-store.js';

/**
 * Copies the blocks that an earlier release kept in a folder of this replica to where all replicas find them. The folder
 * stays as it is; blocks that are there already are not written again.
 *
 * @returns how many blocks were copied, and the names of files that are not what their names say.
 */
export async function importFolderBlocks(
  folder: string,
  blocks: BlockStore,
): Promise<{ copied: number; refused: string[] }> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const result = { copied: 0, refused: [] as string[] };
  for (const name of names) {
    const cid = cidOf(name);
    if (cid === undefined) continue;
    if ((await blocks.get(cid)) !== undefined) continue;
    const bytes = await readFile(join(folder, name));
    if (await isBlockOf(cid, bytes)) {
      await blocks.put(cid, bytes);
      result.copied += 1;
    } else result.refused.push(name);
  }
  return result;
}

/** The address in a file's name; undefined for a file that was not written whole. */
function cidOf(name: string): CID | undefined {
  const [text = '', ending, ...more] = name.split('.');
  if ((ending !== 'json' && ending !== 'block') || more.length > 0) return undefined;
  try {
    return CID.parse(text);
  } catch {
    return undefined;
  }
}
