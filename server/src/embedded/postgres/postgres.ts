import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { installPostgresBinaries, locatePostgresPackage, type PostgresBinaries } from './binaries.js';
import { assertSameMajor, createCluster, readOrCreatePassword, resetPassword, ROLE_NAME } from './cluster.js';
import { EmbeddedPostgresError } from './errors.js';
import {
  openPostgresHome,
  recordHome,
  removeHomeOutside,
  setAbandonedDataAside,
  type PostgresHome,
} from './home.js';
import { stopLeftovers } from './leftovers.js';
import { openPostgresLog } from './log.js';
import { launchPostmaster } from './process.js';

export { EmbeddedPostgresError } from './errors.js';

/** A PostgreSQL server of this process's own. */
export interface EmbeddedPostgres {
  /** `postgres://` URL of the server's database, with password, on 127.0.0.1. A secret. */
  readonly url: string;
  /** The postmaster's process id. */
  readonly pid: number;
  /**
   * Shuts it down: sessions are ended and open transactions rolled back, within about 20 s at worst.
   * Resolves when the process has ended. Calling it again waits for the same shutdown.
   */
  stop(): Promise<void>;
  /** Resolves when the process has ended, after `stop` or unexpectedly; never rejects. */
  readonly exited: Promise<{ reason: string }>;
}

/** The options of `startEmbeddedPostgres`. */
export interface EmbeddedPostgresOptions {
  /** An open state folder (`openStateFolder`), whose lock keeps every other process off the database. */
  readonly stateDir: string;
  /** Told each step that takes noticeable time, in the present tense, for the person at the terminal. */
  readonly onStep?: (text: string) => void;
  /** Told later events of interest, as by pino. */
  readonly logger?: { info(message: string): void; warn(message: string): void };
  /** Where root keeps data that PostgreSQL's user could not reach below the state folder; /var/lib/agent-rental by default. */
  readonly systemDir?: string;
  /** Lets the server's role create databases, in a cluster that is created now. For tests; default false. */
  readonly createsDatabases?: boolean;
  /** Server settings beside the usual ones, by name. For tests; default none. */
  readonly settings?: Readonly<Record<string, string>>;
  /** TCP port on 127.0.0.1; a free one by default. */
  readonly port?: number;
}

/**
 * Starts PostgreSQL 18 from the binaries that npm installed, on the database of the state folder, which
 * is created if there is none. Processes that an earlier server left behind are stopped first.
 *
 * In the state folder it keeps `postgres/` (binaries and data), `postgres.json` (where they are, if not
 * there), `postgres-password` and `postgres.log`.
 *
 * @throws {EmbeddedPostgresError} with the remedy in one line.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { onStep = () => undefined, logger } = options;
  const stateDir = realpathSync(options.stateDir);
  const pkg = locatePostgresPackage();
  const home = await openPostgresHome(stateDir, options.systemDir);
  await stopLeftovers(home.dataDir, () => {
    onStep('Stopping the PostgreSQL of an earlier run');
    logger?.warn('an earlier server left PostgreSQL running; stopping it');
  });
  if (home.recorded) assertSameMajor(stateDir, home, pkg);
  const binaries = installPostgresBinaries(pkg, home.path, () => onStep(`Unpacking PostgreSQL ${pkg.major}`));
  const password = await prepareDatabase(stateDir, home, binaries, options);

  onStep('Starting PostgreSQL');
  const log = openPostgresLog(join(stateDir, 'postgres.log'));
  try {
    const postmaster = await launchPostmaster(home, binaries, log, options);
    const url = `postgres://${ROLE_NAME}:${password}@127.0.0.1:${postmaster.port}/${ROLE_NAME}`;
    void postmaster.exited.finally(() => log.close());
    await assertLogin(url).catch(async (error: unknown) => {
      await postmaster.stop();
      throw error;
    });
    logger?.info(`PostgreSQL ${pkg.major} is ready on 127.0.0.1:${postmaster.port}, data in ${home.dataDir}`);
    return { url, pid: postmaster.pid, exited: postmaster.exited, stop: () => postmaster.stop() };
  } catch (error) {
    log.close();
    throw error;
  }
}

/**
 * Prepares the deletion of a state folder: stops a PostgreSQL that still runs on its database, and removes a database
 * outside the folder. The state folder must not be in use.
 */
export async function removeEmbeddedPostgres(
  options: Pick<EmbeddedPostgresOptions, 'stateDir' | 'systemDir'>,
): Promise<void> {
  const stateDir = realpathSync(options.stateDir);
  const home = await openPostgresHome(stateDir, options.systemDir);
  await stopLeftovers(home.dataDir, () => undefined);
  removeHomeOutside(stateDir, home);
}

/** Returns the password of the server's role, in a database that exists from now on. */
async function prepareDatabase(
  stateDir: string,
  home: PostgresHome,
  binaries: PostgresBinaries,
  { onStep = () => undefined, createsDatabases = false }: EmbeddedPostgresOptions,
): Promise<string> {
  setAbandonedDataAside(home);
  const { password, isNew } = readOrCreatePassword(stateDir);
  if (!existsSync(home.dataDir)) {
    onStep('Creating the database');
    await createCluster(home, binaries, password, { createsDatabases });
  } else if (isNew) {
    await resetPassword(home, binaries, password);
  }
  if (!home.recorded) recordHome(stateDir, home);
  return password;
}

const LOGIN_TIMEOUT_MS = 10_000;

async function assertLogin(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: LOGIN_TIMEOUT_MS });
  // A connection that breaks later must not be an unhandled error event.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new EmbeddedPostgresError(
      `PostgreSQL runs but refuses this server's login (${reason}); remove postgres-password from the state folder to set a new one.`,
      { cause: error },
    );
  } finally {
    await client.end();
  }
}
