import { sql, type Kysely } from 'kysely';

/** What API keys may spend and have spent, and what an operator decides about listings. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table api_keys add column policy jsonb`,
  `create table api_key_spends (
    id text primary key,
    api_key_id uuid not null references api_keys (id),
    kind text not null check (kind in ('run', 'rental')),
    lamports bigint not null,
    created_at timestamptz not null default now()
  )`,
  `create index api_key_spends_recent on api_key_spends (api_key_id, kind, created_at)`,
  `alter table listings add column operator_runs_per_minute integer`,
  `alter table listings add column review_reason text`,
  `create index listings_review_pending on listings (created_at) where review_state = 'pending'`,
];
