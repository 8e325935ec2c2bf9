import { createHash } from 'node:crypto';
import { open, readdir } from 'node:fs/promises';

/** Names in a folder; none without a folder. */
export async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

/** Hashes an id for a file name: ids may have any character, and keys must not be readable. */
export function digestOf(id: string): string {
  return createHash('sha256').update(id).digest('hex').slice(0, 32);
}

/** Syncs a folder, if the system allows it, so that a new name survives a power failure. */
export async function keep(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  try {
    await handle?.sync().catch(() => undefined);
  } finally {
    await handle?.close();
  }
}
