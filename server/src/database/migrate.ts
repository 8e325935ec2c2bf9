import { Migrator, sql, type Migration } from 'kysely';
import { StartError } from '../platform/start-error.js';
import { VERSION } from '../platform/version.js';
import type { Db } from './connection.js';
import { installFunctions, missingFunctions, readFunctions } from './functions.js';
import * as initial from './migrations/0001-initial.js';

/** The migrations in order. A released one does not change. */
const MIGRATIONS: Readonly<Record<string, Migration>> = { '0001-initial': initial };
const NAMES = Object.keys(MIGRATIONS);

/** The schema could not be brought up to date; the cause says why. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/** The database has migrations that this release does not know. */
class NewerSchemaError extends StartError {
  constructor(unknown: readonly string[]) {
    super(
      `The database was migrated by a newer release than this one, ${VERSION}: it has ${unknown.join(', ')}. ` +
        'Start that release, restore a backup, or name another database in DATABASE_URL.',
    );
  }
}

/** Key of the advisory lock under which a replica migrates. */
const LOCK = 7_152_203_841;

/**
 * Brings the schema up to date and returns the names of the migrations that ran. Replicas do it one at a time.
 * Functions that are new are created before the migrations, which may call them. Functions with a changed text are
 * replaced after them, since the text may name new columns.
 *
 * @param migrateOthers migrates tables of libraries, under the same lock: a migration reads the catalog, which fails
 *   while a column is dropped.
 * @throws NewerSchemaError when a newer release has migrated the database.
 * @throws MigrationError when a migration or a function fails, with its cause; their transactions are rolled back.
 */
export async function migrate(db: Db, migrateOthers?: () => Promise<void>): Promise<string[]> {
  try {
    return await db.transaction().execute(async (lock) => {
      await sql`select pg_advisory_xact_lock(${LOCK})`.execute(lock);
      const done = await migrateOwn(db);
      await migrateOthers?.();
      return done;
    });
  } catch (cause) {
    if (cause instanceof StartError) throw cause;
    throw new MigrationError('The database could not be migrated.', { cause });
  }
}

async function migrateOwn(db: Db): Promise<string[]> {
  const unknown = (await migrationsOf(db)).filter((name) => !NAMES.includes(name));
  if (unknown.length > 0) throw new NewerSchemaError(unknown);
  const functions = readFunctions();
  await installFunctions(db, functions, 'missing');
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
  await installFunctions(db, functions, 'changed');
  return results.filter(({ status }) => status === 'Success').map(({ migrationName }) => migrationName);
}

/**
 * Checks that the database answers, and has every migration and function of this software. It may have more: while replicas
 * are replaced, a newer one migrates first.
 *
 * @throws Error when it does not answer, or with the names of the missing parts.
 */
export async function requireMigrated(db: Db): Promise<void> {
  const done = await migrationsOf(db);
  if (done.length === 0) throw new Error('The database is empty.');
  const missing = NAMES.filter((name) => !done.includes(name));
  if (missing.length > 0) throw new Error(`The database lacks the migrations ${missing.join(', ')}.`);
  const functions = await missingFunctions(db, readFunctions());
  if (functions.length > 0) throw new Error(`The database lacks the functions ${functions.join(', ')}.`);
}

/** Names of the migrations that the database has; none where it is empty. */
async function migrationsOf(db: Db): Promise<string[]> {
  const { rows: found } = await sql<{ isThere: boolean }>`
    select to_regclass('kysely_migration') is not null as "isThere"`.execute(db);
  if (found[0]?.isThere !== true) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map(({ name }) => name);
}
