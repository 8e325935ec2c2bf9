import { mkdirSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { findServiceAccount, openToAccount } from '../postgres/account.js';
import { StateFolderError } from './errors.js';
import { acquireStateFolderLock } from './lock.js';

export { StateFolderError, StateFolderInUseError } from './errors.js';

/** A state folder held by this process. */
export interface StateFolder {
  /** Absolute path with every symbolic link resolved. */
  readonly path: string;
  /** Gives the folder back, so that another process may open it. Calling it again does nothing. */
  close(): Promise<void>;
}

/**
 * Opens the folder with all data of the embedded server, and creates it if it is missing. Locks it for this process until
 * `close` or the end of the process, `kill -9` included.
 *
 * A new folder has mode 0700. Root makes it `root:<group of the postgres account>` 0710 instead. PostgreSQL refuses to
 * run as root, so its account must be able to walk through (not list). Files with secrets are therefore always 0600.
 *
 * @throws {StateFolderInUseError} if another process holds the folder.
 * @throws {StateFolderError} if it cannot be made, is not a folder, belongs to another user, or can be written by
 * others. The message names the remedy in one line.
 */
export async function openStateFolder(dir: string): Promise<StateFolder> {
  const wanted = resolve(dir);
  const path = prepareFolder(wanted);
  checkOwnership(path);
  try {
    openToServiceAccount(path);
    const lock = await acquireStateFolderLock(path);
    return { path, close: () => lock.release() };
  } catch (error) {
    throw error instanceof StateFolderError ? error : notUsable(path, error);
  }
}

function prepareFolder(wanted: string): string {
  try {
    mkdirSync(dirname(wanted), { recursive: true });
    try {
      mkdirSync(wanted, { mode: 0o700 });
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    const path = realpathSync(wanted);
    if (!statSync(path).isDirectory()) {
      throw new StateFolderError(wanted, `The state folder ${wanted} is not a folder; ${WHAT_TO_DO}.`);
    }
    return path;
  } catch (error) {
    throw error instanceof StateFolderError ? error : notUsable(wanted, error);
  }
}

function checkOwnership(path: string): void {
  const uid = process.getuid?.();
  if (uid === undefined) return;
  const { uid: owner, mode } = statSync(path);
  if (owner !== uid) {
    throw new StateFolderError(
      path,
      `The state folder ${path} belongs to user id ${owner}, and this process runs as ${uid}; start it as that user, or ${WHAT_TO_DO}.`,
    );
  }
  if ((mode & 0o002) !== 0) {
    throw new StateFolderError(
      path,
      `The state folder ${path} can be written by every user of this machine; run chmod 700 on it, or ${WHAT_TO_DO}.`,
    );
  }
}

/** Only for a folder that is still empty: one with contents may be a home folder, named by mistake. */
function openToServiceAccount(path: string): void {
  if (process.getuid?.() !== 0 || readdirSync(path).length > 0) return;
  const account = findServiceAccount();
  if (account !== undefined) openToAccount(path, account);
}

const WHAT_TO_DO = 'set STATE_DIR to another folder';

function notUsable(path: string, cause: unknown): StateFolderError {
  const code = errorCode(cause);
  const reason =
    code === 'EACCES' || code === 'EPERM'
      ? 'this user may not write there'
      : code === 'EROFS'
        ? 'the file system is read-only'
        : code === 'EEXIST' || code === 'ENOTDIR'
          ? 'part of its path is not a folder'
          : cause instanceof Error
            ? cause.message
            : String(cause);
  return new StateFolderError(path, `The state folder ${path} cannot be used: ${reason}; ${WHAT_TO_DO}.`, {
    cause,
  });
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
