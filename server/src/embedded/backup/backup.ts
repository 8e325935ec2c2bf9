import { rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { VERSION } from '../../platform/version.js';
import { findRunningPostgres } from '../postgres/find-running.js';
import { readRecordedHome } from '../postgres/home.js';
import { openStateFolder } from '../state-folder/state-folder.js';
import { BackupError } from './backup-error.js';
import {
  copyFolder,
  DATABASE_FOLDER,
  newFolderFor,
  STATE_FOLDER,
  writeManifest,
  type BackupManifest,
} from './contents.js';
import { copyRunningDatabase, copyStoppedDatabase } from './copy-database.js';

const CHAIN = 'chain';
/** The parts of the chain's folder that must be newer than the snapshots beside them. */
const NEWEST_OF_CHAIN = /^(journal|clock)(\/|$)/;
/** Files that a start makes anew, and files of a running server. The database is copied separately. */
const NOT_KEPT = /^(postgres|postgres\.json|sandbox|dev\.json|lock[.-].*|[^/]*\.log(\..*)?)(\/|$)/;

/**
 * Copies the whole state of the embedded default, running or stopped. The target folder exists only once the copy is
 * complete.
 *
 * Copies the database before the chain, so that the copy's database is never ahead of its chain. A start then indexes
 * the newer part of the chain, and follows its charges.
 *
 * @param onStep called with the next step, and awaited
 * @throws BackupError, StateFolderError
 */
export async function backUp(
  stateDir: string,
  target: string,
  onStep: (text: string) => void | Promise<void> = () => undefined,
): Promise<BackupManifest> {
  const from = resolve(stateDir);
  const home = (await stat(from).catch(() => undefined)) && readRecordedHome(from);
  if (home === undefined)
    throw new BackupError(`${from} is no state folder of a marketplace: name it with STATE_DIR.`);
  const dataDir = join(home, 'data');
  await stat(dataDir).catch(() => {
    throw new BackupError(`The database of ${from} is gone from ${dataDir}: bring it back first.`);
  });
  const draft = await newFolderFor(resolve(target));
  try {
    const url = findRunningPostgres(from);
    await onStep('Copying the database');
    const isRunning =
      url !== undefined && (await copyRunningDatabase(url, dataDir, join(draft, DATABASE_FOLDER)));
    // A server that does not run must not be started meanwhile.
    const folder = isRunning ? undefined : await openStateFolder(from);
    try {
      if (!isRunning) await copyStoppedDatabase(dataDir, join(draft, DATABASE_FOLDER));
      await onStep('Copying the chain');
      const state = join(draft, STATE_FOLDER);
      const chain = [join(from, CHAIN), join(state, CHAIN)] as const;
      await copyFolder(...chain, (path) => !NEWEST_OF_CHAIN.test(path));
      await copyFolder(...chain, (path) => NEWEST_OF_CHAIN.test(path));
      await onStep('Copying keys and content');
      await copyFolder(from, state, (path) => path !== CHAIN && !NOT_KEPT.test(path));
    } finally {
      await folder?.close();
    }
    const manifest = await writeManifest(draft, VERSION);
    await rename(draft, resolve(target));
    return manifest;
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
}
