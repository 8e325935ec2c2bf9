import { sql, type Kysely } from 'kysely';

/** Records when the connection of a run's caller closed right after the answer: the caller may not have read it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table runs add column answer_cut_at timestamptz`.execute(db);
}
