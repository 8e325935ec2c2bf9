import { sql, type Kysely } from 'kysely';

/** Keeps why runs fail, and lists those of a listing, newest first, for its creator. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table runs add column failure_class text, add column failure_http_status integer`,
  `create index runs_of_listing on runs (listing_id, created_at, id)`,
  // The new one begins with the same column.
  `drop index runs_listing`,
];
