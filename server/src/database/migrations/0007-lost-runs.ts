import { sql, type Kysely } from 'kysely';

/** Finds the runs that were not delivered, and the credits that runs used, without reading the others. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create index runs_undelivered on runs (id) where status = 'undelivered'`,
  `create index credits_used on credits (used_by_run_id) where used_by_run_id is not null`,
];
