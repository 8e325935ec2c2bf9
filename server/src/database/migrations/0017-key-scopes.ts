import { sql, type Kysely } from 'kysely';

/** What API keys may be used for. A key that was made before has no scope that it was not asked for: it cannot publish. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table api_keys add column scopes text[] not null default '{run,rent}'`.execute(db);
}
