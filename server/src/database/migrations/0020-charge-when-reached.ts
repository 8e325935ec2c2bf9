import { sql, type Kysely } from 'kysely';

/**
 * Charges a run at its start only where the agent answered within the last 10 minutes; records that output of a run has
 * left; bounds the credits of a day; and gives charges that are not settled yet a time of their next attempt.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Apart from listings and versions: this row changes with runs, and those have indexes and triggers that it must not touch.
  `create table agent_contacts (
    version_id uuid primary key references agent_versions (id) on delete cascade,
    reached_at timestamptz not null
  ) with (fillfactor = 50)`,

  `alter table runs add column output_left_at timestamptz`,

  `alter table charges
    add column next_attempt_at timestamptz not null default now(),
    add column attempts integer not null default 0,
    add column failure_code integer`,
  `create index charges_due on charges (next_attempt_at) where state in ('signed', 'confirmed')`,
  // InsufficientBalance and PriceAboveLimit are caused by the buyer, PriceChanged by the creator.
  `create index charges_failed_balance on charges (balance_address, updated_at)
    where state = 'failed' and failure_code in (6003, 6101)`,
  `create index charges_failed_listing on charges (listing_id, updated_at)
    where state = 'failed' and failure_code = 6104`,
  `create index credits_given on credits (wallet, listing_id, created_at)`,
];
