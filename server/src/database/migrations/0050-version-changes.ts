import { sql, type Kysely } from 'kysely';

/**
 * Keeps what each version means for renters of the one before. It goes into receipts, which never change: versions that are
 * there already keep none.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table agent_versions add column change_kind text`.execute(db);
}
