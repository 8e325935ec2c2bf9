import { sql, type Kysely } from 'kysely';

/** Keeps which migrations took away what releases before a certain one need. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table schema_needs (
    migration text primary key,
    -- A server that does not know this migration cannot serve the schema any more.
    needs text not null,
    release text not null
  )`.execute(db);
}
