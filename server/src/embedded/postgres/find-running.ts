import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPassword, ROLE_NAME } from './cluster.js';
import { readRecordedHome } from './home.js';

/**
 * URL of the PostgreSQL that a server runs for this state folder; undefined while none does. A secret.
 *
 * @throws when the state folder may not be read.
 */
export function findRunningPostgres(stateDir: string): string | undefined {
  const home = readRecordedHome(stateDir);
  const password = readPassword(join(stateDir, 'postgres-password'));
  if (home === undefined || password === undefined) return undefined;
  // The fourth line of PostgreSQL's own file is its port; the file goes when it stops.
  const port = readIfThere(join(home, 'data', 'postmaster.pid'))
    ?.split('\n')[3]
    ?.trim();
  if (port === undefined || !/^\d+$/.test(port)) return undefined;
  return `postgres://${ROLE_NAME}:${password}@127.0.0.1:${port}/${ROLE_NAME}`;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
