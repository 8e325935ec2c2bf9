import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { PostgresBinaries, PostgresPackage } from './binaries.js';
import { runAsAccount } from './command.js';
import { EmbeddedPostgresError } from './errors.js';
import type { PostgresHome } from './home.js';
import { newDataDir } from './leftovers.js';

/** Name of the server's role and of its database. The role owns the database and is no superuser. */
export const ROLE_NAME = 'agent_rental';

/** In the database `postgres`, from which a backup is made. No connection for replication is let in all the same. */
const ALLOW_BACKUPS = [
  `ALTER ROLE ${ROLE_NAME} REPLICATION`,
  `GRANT EXECUTE ON FUNCTION pg_backup_start(text, boolean), pg_backup_stop(boolean) TO ${ROLE_NAME}`,
];

const INITDB_TIMEOUT_MS = 120_000;
const SINGLE_USER_TIMEOUT_MS = 120_000;

/**
 * Makes the data folder, with the server's role and database in it. It is made under another name and
 * renamed when complete, so that one which exists is whole.
 *
 * Text is compared by code point and case is mapped by PostgreSQL's own Unicode tables, so that indexes
 * do not depend on the system's locales. The superuser has no password and no way to log in.
 */
export async function createCluster(
  home: PostgresHome,
  binaries: PostgresBinaries,
  password: string,
  { createsDatabases }: { createsDatabases: boolean },
): Promise<void> {
  const draft = newDataDir(home.dataDir);
  // C.UTF-8 tells full-text search which characters are letters; not every system has it.
  const failure =
    (await runInitdb(home, binaries, draft, 'C.UTF-8')) && (await runInitdb(home, binaries, draft, 'C'));
  if (failure !== undefined) {
    throw new EmbeddedPostgresError(`PostgreSQL could not create its data folder: ${failure}`);
  }
  writeFileSync(join(draft, 'pg_hba.conf'), `host all ${ROLE_NAME} 127.0.0.1/32 scram-sha-256\n`);
  await runSingleUser(home, binaries, draft, [
    `CREATE ROLE ${ROLE_NAME} LOGIN ${createsDatabases ? 'CREATEDB ' : ''}PASSWORD '${password}'`,
    `CREATE DATABASE ${ROLE_NAME} OWNER ${ROLE_NAME}`,
    ...ALLOW_BACKUPS,
  ]);
  renameSync(draft, home.dataDir);
  syncFolder(home.path);
}

/** Gives the server's role a new password, while no server runs on the data folder. */
export async function resetPassword(
  home: PostgresHome,
  binaries: PostgresBinaries,
  password: string,
): Promise<void> {
  await runSingleUser(home, binaries, home.dataDir, [`ALTER ROLE ${ROLE_NAME} PASSWORD '${password}'`]);
}

/**
 * Refuses a data folder of another major version, which these binaries cannot read.
 *
 * @throws {EmbeddedPostgresError} naming both versions.
 */
export function assertSameMajor(stateDir: string, home: PostgresHome, pkg: PostgresPackage): void {
  const major = readFileSync(join(home.dataDir, 'PG_VERSION'), 'utf8').trim();
  if (major === pkg.major) return;
  throw new EmbeddedPostgresError(
    `The state folder ${stateDir} holds a PostgreSQL ${major} database. This release brings PostgreSQL ${pkg.major}; start the release that made it, or set STATE_DIR to a new folder.`,
  );
}

/** The password of the server's role; `isNew` if the file was missing and has just been written. */
export function readOrCreatePassword(stateDir: string): { password: string; isNew: boolean } {
  const path = join(stateDir, 'postgres-password');
  const known = readPassword(path);
  if (known !== undefined) return { password: known, isNew: false };
  const password = randomBytes(32).toString('base64url');
  const draft = `${path}.new`;
  writeFileSync(draft, `${password}\n`, { mode: 0o600, flush: true });
  renameSync(draft, path);
  return { password, isNew: true };
}

/** Undefined if there is none, or one that is not of our making: it goes into SQL text and a URL. */
export function readPassword(path: string): string | undefined {
  try {
    const password = readFileSync(path, 'utf8').trim();
    return /^[\w-]{32,128}$/.test(password) ? password : undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

async function runInitdb(
  { account, path }: PostgresHome,
  { initdb }: PostgresBinaries,
  draft: string,
  characterType: string,
): Promise<string | undefined> {
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft);
  if (process.getuid?.() !== account.uid) chownSync(draft, account.uid, account.gid);
  chmodSync(draft, 0o700);
  const { exitCode, output } = await runAsAccount({
    command: initdb,
    args: [
      '-D',
      draft,
      '--username=postgres',
      '--auth=reject',
      '--data-checksums',
      '--no-instructions',
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      `--lc-ctype=${characterType}`,
    ],
    account,
    cwd: path,
    timeoutMs: INITDB_TIMEOUT_MS,
  });
  return exitCode === 0 ? undefined : output.trim();
}

/** Runs statements without a server and without logging in. Each must fit on one line. */
async function runSingleUser(
  { account, path }: PostgresHome,
  { postgres }: PostgresBinaries,
  dataDir: string,
  statements: readonly string[],
): Promise<void> {
  const { exitCode, output } = await runAsAccount({
    command: postgres,
    // -j would end a statement at an empty line only; without it each line is one.
    args: ['--single', '-D', dataDir, '-c', 'log_min_error_statement=panic', 'postgres'],
    account,
    cwd: path,
    input: `${statements.join('\n')}\n`,
    timeoutMs: SINGLE_USER_TIMEOUT_MS,
  });
  // A failed statement does not change the exit code.
  if (exitCode !== 0 || /\b(ERROR|FATAL|PANIC):/.test(output)) {
    throw new EmbeddedPostgresError(`PostgreSQL could not prepare its database: ${output.trim()}`);
  }
}

function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
