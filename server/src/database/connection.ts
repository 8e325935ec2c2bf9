import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import { Pool, types } from 'pg';
import { PreparingClient } from './prepared-statements.js';
import type { Database } from './schema.js';

/** Query access, outside or inside a transaction. */
export type Db = Kysely<Database>;
export type Tx = Transaction<Database>;

// 64-bit integers are lamports and slots here: a JavaScript number would lose some of them.
types.setTypeParser(types.builtins.INT8, BigInt);

/** An open database: the pool, and the typed query builder on it. */
export interface OpenDatabase {
  readonly db: Db;
  readonly pool: Pool;
  /**
   * Opens a small pool beside this one, for work that is repeated after a crash of the database. Its commits do not wait for
   * the disk. The caller closes it.
   */
  openForRepeatableWork(maxConnections: number): OpenDatabase;
  close(): Promise<void>;
}

/** Opens the pool. `onError` is called for idle connections that break; the pool replaces them. */
export function openDatabase(
  url: string,
  onError: (error: Error) => void,
  maxConnections = 20,
  commit: 'waits for the disk' | 'does not wait' = 'waits for the disk',
): OpenDatabase {
  const pool = new Pool({
    Client: PreparingClient,
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: 10_000,
    // Opening one, and planning its prepared statements, takes longer than most runs take to start.
    idleTimeoutMillis: 600_000,
    application_name: 'agent-rental',
    // Before anybody gets the connection: it runs one query at a time.
    verify(client, done) {
      // Compiling a query that counts a million rows takes longer than counting them.
      client.query(
        `set jit = off${commit === 'does not wait' ? '; set synchronous_commit = off' : ''}`,
        (error) => done(error),
      );
    },
  });
  pool.on('error', onError);
  pool.on('connect', (client) => client.on('error', onError));
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  return {
    db,
    pool,
    openForRepeatableWork: (most) => openDatabase(url, onError, most, 'does not wait'),
    close: () => db.destroy(),
  };
}
