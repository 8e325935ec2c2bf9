import { sql, type Kysely } from 'kysely';

/** Keeps what API keys ask the owner of their wallet to approve, and the answers. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table spending_approvals (
    id uuid primary key,
    wallet text not null,
    api_key_id uuid not null,
    kind text not null check (kind in ('run', 'rental')),
    listing_id text not null,
    lamports bigint not null,
    call_digest bytea not null,
    state text not null default 'open' check (state in ('open', 'approved', 'refused')),
    used_by text check (used_by is null or state = 'approved'),
    created_at timestamptz not null default now(),
    expires_at timestamptz not null
  )`,
  `create index spending_approvals_of_call on spending_approvals (api_key_id, call_digest)`,
  `create index spending_approvals_of_wallet on spending_approvals (wallet, created_at) where state = 'open'`,
  `create index spending_approvals_used on spending_approvals (used_by) where used_by is not null`,
  `create index spending_approvals_expiry on spending_approvals (expires_at)`,
];
