import { sql, type Kysely } from 'kysely';

/** Keeps what a registration or an update is warned of. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table registration_jobs add column warnings jsonb`.execute(db);
}
