import { sql, type Kysely } from 'kysely';

/** Keeps a value that is derived from each key, so that a wrong key is found at the start. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table key_checks (name text primary key, value bytea not null)`.execute(db);
}
