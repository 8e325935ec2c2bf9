import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { openDatabase, type OpenDatabase } from '../database/connection.js';
import { migrate } from '../database/migrate.js';
import { migrateJobs } from '../jobs/jobs.js';

/** A database of one test file's own. */
export interface TemporaryDatabase extends OpenDatabase {
  /** For further connections, as of other replicas. They must be closed first. */
  readonly url: string;
}

/**
 * Opens an empty database on a server. `close` leaves nothing behind.
 *
 * @param serverUrl default: the PostgreSQL that the test run has started, else `TEST_DATABASE_URL`, else one started for it
 */
export function openEmptyDatabase(serverUrl?: string): Promise<TemporaryDatabase> {
  return open(undefined, serverUrl);
}

async function open(
  template?: string,
  shared = process.env['SHARED_TEST_DATABASE_URL'] ?? process.env['TEST_DATABASE_URL'],
): Promise<TemporaryDatabase> {
  const server = shared === undefined ? await startTestPostgres() : await createDatabase(shared, template);
  const url = new URL(server.url);
  // These rows are not needed after a crash, and the tests write many of them one by one.
  url.searchParams.set('options', '-csynchronous_commit=off');
  const database = openDatabase(url.href, () => undefined);
  return {
    ...database,
    url: url.href,
    close: async () => {
      await database.close();
      await server.remove();
    },
  };
}

/** A database whose PostgreSQL can crash. */
export interface RestartableDatabase extends TemporaryDatabase {
  /** Where it is now; it moves with each crash. */
  readonly url: string;
  readonly pool: OpenDatabase['pool'];
  /** Kills PostgreSQL at once and starts it again on the same data. */
  crash(): Promise<void>;
  /** Stops PostgreSQL and starts it again on the same data, with server settings beside the usual ones. */
  restart(settings: Readonly<Record<string, string>>): Promise<void>;
}

/** Opens an empty database on a separate PostgreSQL, which writes every commit through to the disk. */
export async function openRestartableDatabase(): Promise<RestartableDatabase> {
  const { removeEmbeddedPostgres, startEmbeddedPostgres } = await import('../embedded/postgres/postgres.js');
  const stateDir = newStateDir();
  let postgres = await startEmbeddedPostgres({ stateDir });
  let database = openDatabase(postgres.url, () => undefined);
  return {
    get url() {
      return postgres.url;
    },
    get db() {
      return database.db;
    },
    get pool() {
      return database.pool;
    },
    openForRepeatableWork: (most) => database.openForRepeatableWork(most),
    async crash() {
      process.kill(postgres.pid, 'SIGKILL');
      await postgres.exited;
      await database.close();
      postgres = await startEmbeddedPostgres({ stateDir });
      database = openDatabase(postgres.url, () => undefined);
    },
    async restart(settings) {
      await database.close();
      await postgres.stop();
      postgres = await startEmbeddedPostgres({ stateDir, settings });
      database = openDatabase(postgres.url, () => undefined);
    },
    async close() {
      await database.close();
      await postgres.stop();
      await removeEmbeddedPostgres({ stateDir });
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

/** A separate PostgreSQL with an empty database. It starts again at the same address when it is killed. */
export interface KeptDatabase {
  readonly url: string;
  /** Of the present process. */
  readonly pid: number;
  close(): Promise<void>;
}

/** Starts it. It writes every commit through to the disk. */
export async function openKeptDatabase(): Promise<KeptDatabase> {
  const [{ keepEmbeddedPostgres }, { removeEmbeddedPostgres }] = await Promise.all([
    import('../embedded/postgres/keep-running.js'),
    import('../embedded/postgres/postgres.js'),
  ]);
  const stateDir = newStateDir();
  const postgres = await keepEmbeddedPostgres({ stateDir });
  return {
    url: postgres.url,
    get pid() {
      return postgres.pid;
    },
    async close() {
      await postgres.stop();
      await removeEmbeddedPostgres({ stateDir });
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

/** A folder for a PostgreSQL. */
function newStateDir(): string {
  const stateDir = realpathSync(mkdtempSync(join(tmpdir(), 'agent-rental-test-')));
  // The account that PostgreSQL runs as must be able to walk in.
  chmodSync(stateDir, 0o755);
  return stateDir;
}

/**
 * Opens a database with all tables. It is a copy of the test run's migrated database, because a migration takes seconds, or
 * a database that is migrated here.
 */
export async function openTestDatabase(): Promise<TemporaryDatabase> {
  const template = process.env['TEST_DATABASE_TEMPLATE'];
  const database = await open(template);
  if (template === undefined) await migrate(database.db);
  return database;
}

/** The settings for processes that run test files: the address of PostgreSQL, and the database to copy. */
export interface SharedTestServer {
  readonly environment: { SHARED_TEST_DATABASE_URL?: string; TEST_DATABASE_TEMPLATE: string };
  close(): Promise<void>;
}

/**
 * Starts a PostgreSQL for a test run and migrates a database for copies on it. The full form uses the server at
 * `TEST_DATABASE_URL`. The started one does not wait for the disk: a copy takes a sixth of the time.
 */
export async function startSharedTestServer(): Promise<SharedTestServer> {
  const given = process.env['TEST_FORM'] === 'full' ? process.env['TEST_DATABASE_URL'] : undefined;
  const own = given === undefined ? await startTestPostgres() : undefined;
  const template = await createDatabase(own?.url ?? given ?? '');
  const database = openDatabase(template.url, () => undefined);
  await migrate(database.db);
  await migrateJobs(database.pool);
  await database.close();
  return {
    environment: {
      ...(own === undefined ? {} : { SHARED_TEST_DATABASE_URL: own.url }),
      TEST_DATABASE_TEMPLATE: new URL(template.url).pathname.slice(1),
    },
    close: async () => {
      await template.remove();
      await own?.remove();
    },
  };
}

/** A PostgreSQL, or a database on one, that is removed after use. */
interface TestPostgres {
  url: string;
  remove(): Promise<void>;
}

async function createDatabase(shared: string, template?: string): Promise<TestPostgres> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await runOn(shared, `create database ${name} ${template === undefined ? '' : `template ${template}`}`);
  const url = new URL(shared);
  url.pathname = `/${name}`;
  return { url: url.href, remove: () => dropDatabase(shared, name) };
}

/** How long connections that were closed a moment ago may take to leave, each with its process. */
const LEAVING_MS = 1_000;

/**
 * Drops a database. First waits for closing connections, because a connection that is ended by force breaks its
 * owner's test. `drop database` itself ends autovacuum; `with (force)` fails there, because the role is no superuser.
 */
async function dropDatabase(shared: string, name: string): Promise<void> {
  const client = new Client({ connectionString: shared });
  await client.connect();
  try {
    const until = performance.now() + LEAVING_MS;
    const connections = `from pg_stat_activity where datname = '${name}' and backend_type = 'client backend'`;
    const isUsed = async () => (await client.query(`select ${connections}`)).rowCount !== 0;
    while (performance.now() < until && (await isUsed())) await delay(5);
    await client.query(`select pg_terminate_backend(pid) ${connections}`);
    await client.query(`drop database ${name}`);
  } finally {
    await client.end();
  }
}

async function runOn(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** For data that no crash has to survive: creating and dropping a database waits a second for the disk otherwise. */
const NOT_KEPT = { fsync: 'off', full_page_writes: 'off' };

/** Starts a PostgreSQL in a temporary folder. */
async function startTestPostgres(): Promise<TestPostgres> {
  // Only where it is needed: it looks for the binaries when it is loaded.
  const { removeEmbeddedPostgres, startEmbeddedPostgres } = await import('../embedded/postgres/postgres.js');
  const stateDir = newStateDir();
  const remove = async () => {
    await removeEmbeddedPostgres({ stateDir });
    rmSync(stateDir, { recursive: true, force: true });
  };
  try {
    const postgres = await startEmbeddedPostgres({ stateDir, createsDatabases: true, settings: NOT_KEPT });
    return {
      url: postgres.url,
      remove: async () => {
        await postgres.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
