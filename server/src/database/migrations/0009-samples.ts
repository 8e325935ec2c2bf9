import { sql, type Kysely } from 'kysely';

/** Keeps the input that a sample output came of, and why a review's run gave none. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table listings add column sample_input jsonb, add column sample_problem text`.execute(db);
}
