import { sql, type Kysely } from 'kysely';

/** Finds equal runs whose answer has not reached anybody, whether somebody waits for them or not. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create index runs_unheard on runs (wallet, listing_id, request_digest, left_at) where delivered_at is null`,
  `drop index runs_adoptable`,
];
