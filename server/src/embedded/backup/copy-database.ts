import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { BackupError } from './backup-error.js';
import { copyFolder } from './contents.js';

const CONNECT_TIMEOUT_MS = 5_000;
/** Files of a running process, which the next one makes anew (PostgreSQL's documentation, 25.3.4). */
const OF_A_PROCESS =
  /^(postmaster\.(pid|opts)|backup_label.*)$|^(pg_dynshmem|pg_notify|pg_replslot|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\/|(^|\/)pgsql_tmp|\/pg_internal\.init/;
const WAL = 'pg_wal';

/** Copies the data folder of a PostgreSQL that does not run. */
export function copyStoppedDatabase(dataDir: string, to: string): Promise<void> {
  return copyFolder(dataDir, to, (path) => !OF_A_PROCESS.test(path));
}

/**
 * Copies the data folder of a running PostgreSQL by its low-level backup. First come the files, then the log of their
 * changes, which the next start replays. Sessions go on.
 *
 * @param url of the running server; undefined is answered where nothing listens there
 * @returns false where no server answers at the URL
 * @throws BackupError
 */
export async function copyRunningDatabase(url: string, dataDir: string, to: string): Promise<boolean> {
  // The role may back up from this database alone.
  const place = new URL(url);
  place.pathname = '/postgres';
  const client = new Client({ connectionString: place.href, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch {
    return false;
  }
  try {
    // Keeps the log from the start of the backup on; it goes with the session.
    await client.query(
      `select pg_create_physical_replication_slot('backup_' || pg_backend_pid(), true, true)`,
    );
    await client.query(`select pg_backup_start('agent-rental', true)`);
    await copyFolder(dataDir, to, (path) => !OF_A_PROCESS.test(path) && !path.startsWith(`${WAL}/`));
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)');
    await copyFolder(join(dataDir, WAL), join(to, WAL));
    await writeFile(join(to, 'backup_label'), rows[0]?.labelfile ?? '', { mode: 0o600 });
    if ((await readdir(join(to, WAL))).length === 0)
      throw new BackupError('The database has no log to restore by.');
    return true;
  } finally {
    await client.end();
  }
}
