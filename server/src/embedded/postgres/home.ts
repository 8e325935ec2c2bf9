import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import * as z from 'zod';
import { chooseAccount, openToAccount, ownAccount, type ServiceAccount } from './account.js';
import { runAsAccount } from './command.js';
import { EmbeddedPostgresError } from './errors.js';

/** Where one state folder's database lives, and who runs it. */
export interface PostgresHome {
  /** Holds the binaries and the data folder. */
  readonly path: string;
  /** PostgreSQL's data folder; it exists only when it is complete. */
  readonly dataDir: string;
  readonly account: ServiceAccount;
  /** Whether the state folder already names this home for its database. */
  readonly recorded: boolean;
}

/** `postgres.json` in the state folder. A path inside the state folder is kept relative, so that it can be moved. */
const HomeRecord = z.object({ home: z.string().min(1) });

const INSIDE = 'postgres';
/** In a home outside of the state folder: the path of the state folder that it belongs to. */
const OWNER_FILE = 'state-folder';
const DEFAULT_SYSTEM_FOLDER = '/var/lib/agent-rental';

/**
 * Finds the home that `recordHome` wrote down for this state folder, or makes the folder for a new one.
 *
 * It is the folder `postgres` inside the state folder. There is one exception: root starts the server, and PostgreSQL's
 * account cannot walk to the state folder, for example below /root. Then it is a folder below `systemFolder`, named by a
 * hash of the state folder's path.
 *
 * @throws {EmbeddedPostgresError} if the recorded home is gone, out of reach, or another state folder's.
 */
export async function openPostgresHome(
  stateDir: string,
  systemFolder: string = DEFAULT_SYSTEM_FOLDER,
): Promise<PostgresHome> {
  const recorded = readRecordedHome(stateDir);
  return recorded === undefined ? createHome(stateDir, systemFolder) : openRecordedHome(stateDir, recorded);
}

/** Writes down that this home holds the state folder's database, which is complete from now on. */
export function recordHome(stateDir: string, home: PostgresHome): void {
  const inside = home.path === join(stateDir, INSIDE);
  const draft = join(stateDir, 'postgres.json.new');
  const record: z.infer<typeof HomeRecord> = { home: inside ? INSIDE : home.path };
  writeFileSync(draft, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  renameSync(draft, recordPath(stateDir));
}

/**
 * Moves away data that no record names, because the state folder or its record was deleted. One generation is kept,
 * in case the folder was only absent, like a disk that is not mounted.
 */
export function setAbandonedDataAside(home: PostgresHome): void {
  if (home.recorded || !existsSync(home.dataDir)) return;
  const previous = `${home.dataDir}.previous`;
  rmSync(previous, { recursive: true, force: true });
  renameSync(home.dataDir, previous);
}

/** Removes the home if it lies outside of the state folder, so that deleting the state folder deletes everything. */
export function removeHomeOutside(stateDir: string, home: PostgresHome): void {
  if (!isOutside(stateDir, home.path)) return;
  rmSync(home.path, { recursive: true, force: true });
  removeIfEmpty(dirname(home.path));
}

async function openRecordedHome(stateDir: string, path: string): Promise<PostgresHome> {
  const dataDir = join(path, 'data');
  const data = statSync(dataDir, { throwIfNoEntry: false });
  if (data === undefined) {
    throw new EmbeddedPostgresError(
      `The database of the state folder ${stateDir} is gone from ${dataDir}; bring it back, or remove ${recordPath(stateDir)} to start with an empty one.`,
    );
  }
  if (isOutside(stateDir, path)) claimOutside(stateDir, path);
  const account = { uid: data.uid, gid: data.gid };
  const { uid } = ownAccount();
  if (uid !== 0 && uid !== account.uid) {
    throw new EmbeddedPostgresError(
      `The database in ${dataDir} belongs to user id ${account.uid}, and this process runs as ${uid}. Start it as that user, or set STATE_DIR to another folder.`,
    );
  }
  if (!(await canEnter(account, path))) {
    throw new EmbeddedPostgresError(
      `User id ${account.uid}, which runs the database in ${dataDir}, cannot reach that folder. Open the way for it, or move the state folder back.`,
    );
  }
  return { path, dataDir, account, recorded: true };
}

async function createHome(stateDir: string, systemFolder: string): Promise<PostgresHome> {
  const account = chooseAccount();
  const inside = join(stateDir, INSIDE);
  makeFolder(inside, account);
  if (await canEnter(account, inside)) return newHome(inside, account);
  removeIfEmpty(inside);
  const path = choosePlace(stateDir, systemFolder);
  try {
    if (mkdirSync(systemFolder, { recursive: true }) !== undefined) chmodSync(systemFolder, 0o755);
    makeFolder(path, account);
  } catch (error) {
    throw cannotPlace(stateDir, systemFolder, error);
  }
  if (!(await canEnter(account, path))) {
    removeIfEmpty(path);
    removeIfEmpty(systemFolder);
    throw cannotPlace(stateDir, systemFolder, undefined);
  }
  writeFileSync(join(path, OWNER_FILE), stateDir, { mode: 0o600 });
  return newHome(path, account);
}

/** The same place for the same path, unless a state folder that was moved away from that path still uses it. */
function choosePlace(stateDir: string, systemFolder: string): string {
  const name = createHash('sha256').update(stateDir).digest('hex').slice(0, 16);
  for (let number = 1; ; number += 1) {
    const path = join(systemFolder, number === 1 ? name : `${name}-${number}`);
    if (findOtherOwner(stateDir, path) === undefined) return path;
  }
}

function newHome(path: string, account: ServiceAccount): PostgresHome {
  return { path, dataDir: join(path, 'data'), account, recorded: false };
}

function removeIfEmpty(folder: string): void {
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}

/** A copied state folder must not run on the original's data; a moved one takes its data along. */
function claimOutside(stateDir: string, home: string): void {
  const owner = findOtherOwner(stateDir, home);
  if (owner !== undefined) {
    throw new EmbeddedPostgresError(
      `The state folder ${stateDir} is a copy of ${owner}, whose database is in ${home}; remove ${recordPath(stateDir)} to start with an empty one.`,
    );
  }
  writeFileSync(join(home, OWNER_FILE), stateDir, { mode: 0o600 });
}

/** Another state folder whose database is in this home. */
function findOtherOwner(stateDir: string, home: string): string | undefined {
  const ownerFile = join(home, OWNER_FILE);
  if (!existsSync(ownerFile)) return undefined;
  const owner = readFileSync(ownerFile, 'utf8');
  return owner !== stateDir && readRecordedHome(owner) === home ? owner : undefined;
}

/** The home that `recordHome` wrote down; undefined where none was. */
export function readRecordedHome(stateDir: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(recordPath(stateDir), 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const { home } = HomeRecord.parse(JSON.parse(text));
    return isAbsolute(home) ? home : join(stateDir, home);
  } catch (error) {
    throw new EmbeddedPostgresError(
      `${recordPath(stateDir)} cannot be read as JSON with a "home"; restore it, or set STATE_DIR to another folder.`,
      { cause: error },
    );
  }
}

function recordPath(stateDir: string): string {
  return join(stateDir, 'postgres.json');
}

function isOutside(stateDir: string, home: string): boolean {
  return home !== join(stateDir, INSIDE);
}

function makeFolder(path: string, account: ServiceAccount): void {
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o700);
  if (ownAccount().uid === 0) openToAccount(path, account);
}

/** Asks the system itself, because modes alone do not tell about access lists, groups and mounts. */
async function canEnter(account: ServiceAccount, folder: string): Promise<boolean> {
  if (ownAccount().uid === account.uid) return true;
  const { exitCode } = await runAsAccount({
    command: '/bin/sh',
    args: ['-c', 'cd "$1"', 'sh', folder],
    account,
    cwd: '/',
    timeoutMs: 10_000,
  });
  return exitCode === 0;
}

function cannotPlace(stateDir: string, systemFolder: string, cause: unknown): EmbeddedPostgresError {
  return new EmbeddedPostgresError(
    `PostgreSQL does not run as root. Its user can reach neither ${stateDir} nor ${systemFolder}. Set STATE_DIR to a folder that every user can walk to, or set DATABASE_URL.`,
    { cause },
  );
}
