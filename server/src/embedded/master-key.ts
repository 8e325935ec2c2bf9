import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Where a state folder keeps its master key. */
export function masterKeyPath(stateDir: string): string {
  return join(stateDir, 'keys', 'master-key');
}

/** The master key of a state folder; undefined where there is none yet. */
export async function readMasterKey(stateDir: string): Promise<Buffer | undefined> {
  try {
    return Buffer.from(await readFile(masterKeyPath(stateDir), 'utf8'), 'base64');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
