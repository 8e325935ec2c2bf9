import { sql } from 'kysely';
import { StartError } from '../platform/start-error.js';
import { VERSION } from '../platform/version.js';
import type { Db, Tx } from './connection.js';

/** A migration that took away what releases use that do not know the migration `needs`. */
interface SchemaNeed {
  migration: string;
  needs: string;
  /** The release that did it, which can serve the schema. */
  release: string;
}

/** The database was changed by a newer release in a way that this one cannot serve. */
export class OutdatedReleaseError extends StartError {
  constructor({ migration, needs, release }: SchemaNeed) {
    super(
      `The database was changed by release ${release} so that this one, ${VERSION}, cannot serve it: the migration ` +
        `${migration} needs servers that know ${needs}. Start release ${release} or a newer one, or restore a backup from before.`,
    );
  }
}

/** The database has migrations that this release does not know, and lacks some of its own. */
export class OtherReleaseError extends StartError {
  constructor(lacks: string) {
    super(
      `The database was changed by a release that this one, ${VERSION}, does not lead to. ${lacks} Start the release that ` +
        'migrated it, or name another database in DATABASE_URL.',
    );
  }
}

/**
 * Names of the migrations in the database that this release does not know: those of a newer release, which this one can go on
 * to serve while replicas are replaced.
 *
 * @param known migrations of this release.
 * @throws OutdatedReleaseError when one of them took away what this release needs.
 */
export async function newerMigrations(db: Db | Tx, known: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ migrations: string | null; needs: string | null }>`
    select to_regclass('kysely_migration')::text as migrations, to_regclass('schema_needs')::text as needs`.execute(
    db,
  );
  if ((rows[0]?.migrations ?? null) === null) return [];
  if (rows[0]?.needs !== null) {
    const unmet = await sql<SchemaNeed>`select migration, needs, release from schema_needs
      where not needs = any (${known}) order by migration desc limit 1`.execute(db);
    if (unmet.rows[0]) throw new OutdatedReleaseError(unmet.rows[0]);
  }
  const unknown = await sql<{ name: string }>`select name from kysely_migration
    where not name = any (${known}) order by name`.execute(db);
  return unknown.rows.map(({ name }) => name);
}

/** Records what a migration needs, in its transaction. */
export async function recordNeed(db: Db | Tx, migration: string, needs: string): Promise<void> {
  await sql`insert into schema_needs (migration, needs, release) values (${migration}, ${needs}, ${VERSION})`.execute(
    db,
  );
}
