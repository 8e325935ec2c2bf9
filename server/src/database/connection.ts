import { Kysely, Migrator, PostgresDialect, sql, type Transaction } from 'kysely';
import { Pool, types } from 'pg';
import * as initial from './migrations/0001-initial.js';
import * as unfinalizedAccounts from './migrations/0002-unfinalized-accounts.js';
import * as keyPoliciesAndOperator from './migrations/0003-key-policies-and-operator.js';
import * as listings from './migrations/0004-listings.js';
import * as runs from './migrations/0005-runs.js';
import * as creators from './migrations/0006-creators.js';
import * as lostRuns from './migrations/0007-lost-runs.js';
import * as seatLine from './migrations/0008-seat-line.js';
import * as samples from './migrations/0009-samples.js';
import * as typos from './migrations/0010-typos.js';
import * as seatTaking from './migrations/0011-seat-taking.js';
import * as fewListings from './migrations/0012-few-listings.js';
import * as equalRuns from './migrations/0013-equal-runs.js';
import * as chargeReservations from './migrations/0014-charge-reservations.js';
import * as runBeginnings from './migrations/0015-run-beginnings.js';
import * as rareWords from './migrations/0016-rare-words.js';
import * as keyScopes from './migrations/0017-key-scopes.js';
import * as approvedVersions from './migrations/0018-approved-versions.js';
import * as chargeWhenReached from './migrations/0020-charge-when-reached.js';
import * as shareOfSlots from './migrations/0021-share-of-slots.js';
import { PreparingClient } from './prepared-statements.js';
import type { Database } from './schema.js';

/** Query access, outside or inside a transaction. */
export type Db = Kysely<Database>;
export type Tx = Transaction<Database>;

// 64-bit integers are lamports and slots here: a JavaScript number would lose some of them.
types.setTypeParser(types.builtins.INT8, BigInt);

/** The migrations in order. A released one is never changed. */
const MIGRATIONS = {
  '0001-initial': initial,
  '0002-unfinalized-accounts': unfinalizedAccounts,
  '0003-key-policies-and-operator': keyPoliciesAndOperator,
  '0004-listings': listings,
  '0005-runs': runs,
  '0006-creators': creators,
  '0007-lost-runs': lostRuns,
  '0008-seat-line': seatLine,
  '0009-samples': samples,
  '0010-typos': typos,
  '0011-seat-taking': seatTaking,
  '0012-few-listings': fewListings,
  '0013-equal-runs': equalRuns,
  '0014-charge-reservations': chargeReservations,
  '0015-run-beginnings': runBeginnings,
  '0016-rare-words': rareWords,
  '0017-key-scopes': keyScopes,
  '0018-approved-versions': approvedVersions,
  '0020-charge-when-reached': chargeWhenReached,
  '0021-share-of-slots': shareOfSlots,
};

/** An open database: the pool, and the typed query builder on it. */
export interface OpenDatabase {
  readonly db: Db;
  readonly pool: Pool;
  close(): Promise<void>;
}

/** Opens the pool. `onError` hears of idle connections that break; the pool replaces them. */
export function openDatabase(
  url: string,
  onError: (error: Error) => void,
  maxConnections = 20,
): OpenDatabase {
  const pool = new Pool({
    Client: PreparingClient,
    connectionString: url,
    max: maxConnections,
    connectionTimeoutMillis: 10_000,
    // Opening one, and planning what is prepared on it, takes longer than most runs take to begin.
    idleTimeoutMillis: 600_000,
    application_name: 'agent-rental',
    // Before anybody gets the connection: it runs one query at a time.
    verify(client, done) {
      // Compiling a query that counts a million rows takes longer than counting them.
      client.query('set jit = off', (error) => done(error));
    },
  });
  pool.on('error', onError);
  pool.on('connect', (client) => client.on('error', onError));
  const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) });
  return { db, pool, close: () => db.destroy() };
}

/**
 * Brings the schema up to date and returns the names of the migrations that ran. Safe when several replicas do it at
 * once: one migrates, the others wait.
 *
 * @param last the last migration to run; absent: the newest. Tests of a migration stop before it.
 * @throws when a migration fails; what it had done is rolled back.
 */
export async function migrate(db: Db, last?: keyof typeof MIGRATIONS): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
  const { error, results } = await (last === undefined
    ? migrator.migrateToLatest()
    : migrator.migrateTo(last));
  if (error !== undefined) throw new Error('The database could not be migrated.', { cause: error });
  return (results ?? [])
    .filter((result) => result.status === 'Success')
    .map((result) => result.migrationName);
}

/**
 * Checks that the database answers and has every migration of this software. It may have more: while replicas are
 * replaced, a newer one migrates first.
 *
 * @throws Error when it does not answer, or naming what is missing.
 */
export async function requireMigrated(db: Db): Promise<void> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  const done = new Set(rows.map(({ name }) => name));
  const missing = Object.keys(MIGRATIONS).filter((name) => !done.has(name));
  if (missing.length > 0) throw new Error(`The database lacks the migrations ${missing.join(', ')}.`);
}
