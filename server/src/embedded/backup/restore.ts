import { readdirSync } from 'node:fs';
import { chown, readdir, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { openPostgresHome, recordHome, setAbandonedDataAside, type PostgresHome } from '../postgres/home.js';
import { openStateFolder } from '../state-folder/state-folder.js';
import { BackupError } from './backup-error.js';
import { copyFolder, DATABASE_FOLDER, readBackup, STATE_FOLDER, type BackupManifest } from './contents.js';

/**
 * Makes a state folder of a backup, for the next start. It overwrites nothing: the folder must be new or empty.
 *
 * @throws BackupError, StateFolderError, EmbeddedPostgresError; nothing of the backup is left there then
 */
export async function restore(
  backup: string,
  stateDir: string,
  onStep: (text: string) => void = () => undefined,
): Promise<BackupManifest> {
  const from = resolve(backup);
  const to = resolve(stateDir);
  const isThere = (await stat(to).catch(() => undefined)) !== undefined;
  if (isThere && readdirSync(to).length > 0) {
    throw new BackupError(
      `The state folder ${to} is not empty, and nothing in it is overwritten: name a new one with STATE_DIR.`,
    );
  }
  onStep('Checking the backup');
  const manifest = await readBackup(from);
  const folder = await openStateFolder(to);
  let home: PostgresHome | undefined;
  try {
    onStep('Copying keys, content and chain');
    await copyFolder(join(from, STATE_FOLDER), folder.path);
    onStep('Copying the database');
    home = await openPostgresHome(folder.path);
    setAbandonedDataAside(home);
    await copyFolder(join(from, DATABASE_FOLDER), home.dataDir);
    if (process.getuid?.() === 0) await giveTo(home.dataDir, home.account);
    recordHome(folder.path, home);
    await folder.close();
    return manifest;
  } catch (error) {
    await folder.close();
    if (home) await rm(home.dataDir, { recursive: true, force: true });
    await rm(to, { recursive: true, force: true });
    throw error;
  }
}

/** PostgreSQL does not run as root: its folder belongs to the account that it runs as. */
async function giveTo(folder: string, { uid, gid }: PostgresHome['account']): Promise<void> {
  await chown(folder, uid, gid);
  for (const { parentPath, name } of await readdir(folder, { recursive: true, withFileTypes: true })) {
    await chown(join(parentPath, name), uid, gid);
  }
}
