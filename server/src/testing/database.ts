import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { openDatabase, type OpenDatabase } from '../database/connection.js';
import { migrate } from '../database/migrate.js';

/** A database of one test file's own. */
export interface TemporaryDatabase extends OpenDatabase {
  /** For further connections, as of other replicas. They must be closed first. */
  readonly url: string;
}

/**
 * Opens an empty database: a fresh one on the server of `TEST_DATABASE_URL`, or where that is not set on the one that the
 * test run has started, or on a PostgreSQL started for it. `close` leaves nothing behind.
 */
export async function openEmptyDatabase(): Promise<TemporaryDatabase> {
  const shared = process.env['TEST_DATABASE_URL'] ?? process.env['SHARED_TEST_DATABASE_URL'];
  const server = shared === undefined ? await startTestPostgres() : await createDatabase(shared);
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

/** Opens a database with all tables in it. */
export async function openTestDatabase(): Promise<TemporaryDatabase> {
  const database = await openEmptyDatabase();
  await migrate(database.db);
  return database;
}

/** A PostgreSQL, or a database on one, that is removed after use. */
interface TestPostgres {
  url: string;
  remove(): Promise<void>;
}

async function createDatabase(shared: string): Promise<TestPostgres> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await runOn(shared, `create database ${name}`);
  const url = new URL(shared);
  url.pathname = `/${name}`;
  return { url: url.href, remove: () => runOn(shared, `drop database ${name} with (force)`) };
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

/** Starts a PostgreSQL in a temporary folder. */
async function startTestPostgres(): Promise<TestPostgres> {
  // Only where it is needed: it looks for the binaries when it is loaded.
  const { removeEmbeddedPostgres, startEmbeddedPostgres } = await import('../embedded/postgres/postgres.js');
  const stateDir = realpathSync(mkdtempSync(join(tmpdir(), 'agent-rental-test-')));
  // The account that PostgreSQL runs as must be able to walk in.
  chmodSync(stateDir, 0o755);
  const remove = async () => {
    await removeEmbeddedPostgres({ stateDir });
    rmSync(stateDir, { recursive: true, force: true });
  };
  try {
    const postgres = await startEmbeddedPostgres({ stateDir, createsDatabases: true });
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
