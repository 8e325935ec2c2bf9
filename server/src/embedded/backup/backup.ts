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
/** Of the chain's folder: what has to be newer than the snapshots beside it. */
const NEWEST_OF_CHAIN = /^(journal|clock)(\/|$)/;
/** What a start makes anew, and what belongs to a running server; the database is copied apart. */
const NOT_KEPT = /^(postgres|postgres\.json|sandbox|dev\.json|lock[.-].*|[^/]*\.log(\..*)?)(\/|$)/;

/**
 * Copies everything that the embedded default keeps, while it runs or stopped, to a folder that is there only once it is whole.
 *
 * The database comes first and the chain after it, so that the copy's database is never ahead of its chain: a start indexes
 * what the chain has more, and follows its charges.
 *
 * @param onStep is told what comes next, and waited for
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
