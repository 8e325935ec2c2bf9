import { sql, type Kysely } from 'kysely';

/** Shares the slots of a listing between the wallets that want them, where one wallet took all. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Without a wallet only what a replica of an older version takes, while it is being replaced.
  `alter table seats add column wallet text`,
  `update seats set wallet = runs.wallet from runs where runs.id = seats.run_id`,
];
