import { sql, type Kysely } from 'kysely';

/** Finds the versions whose secrets are to go without reading those that run. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create index agent_versions_replaced on agent_versions (replaced_at)
    where replaced_at is not null and private_part is not null`,
  `create trigger note_replaced_version after update of version_id on listings
    for each row when (old.version_id is distinct from new.version_id) execute function note_replaced_version()`,
];
