import { sql, type Kysely } from 'kysely';

/**
 * Remembers that a charge was confirmed once, also after a fork dropped it and it was signed anew, and whether its output
 * waits for finality; and lets a transaction be of several charges. Replicas of the version before let output leave once it is confirmed, which the default says.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table charges
    add column confirmed_at timestamptz,
    add column awaits_finality boolean not null default false`,
  `update charges set confirmed_at = updated_at where state = 'confirmed'`,
  `create index charges_unfinalized on charges (wallet) where state in ('signed', 'confirmed')`,
  // A transaction may be of several charges. What the version before writes and reads stays as it was.
  `alter table charge_signatures drop constraint charge_signatures_pkey, add primary key (signature, run_id)`,
];
