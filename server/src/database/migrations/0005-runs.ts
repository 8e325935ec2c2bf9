import { sql, type Kysely } from 'kysely';

/** Runs that outlive their requests: who waits for them, who stopped them, and what they came to. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `alter table runs
    add column waiters integer not null default 1,
    add column left_at timestamptz,
    add column keeps_going boolean not null default false,
    add column delivered_at timestamptz,
    add column stop_reason text check (stop_reason in ('cancelled', 'caller_left')),
    add column outcome text check (outcome in ('completed', 'failed')),
    add column error jsonb,
    add column salt bytea,
    add column input_digest bytea,
    add column output_digest bytea`,
  `create index runs_adoptable on runs (wallet, listing_id, request_digest, left_at)
    where delivered_at is null and left_at is not null`,
  `create index runs_wallet on runs (wallet, created_at desc, id)`,
  `create index runs_results on runs (finished_at) where output is not null`,
  `create table cancelled_keys (
    wallet text not null,
    idempotency_key text not null,
    created_at timestamptz not null default now(),
    primary key (wallet, idempotency_key)
  )`,
  `create index cancelled_keys_created on cancelled_keys (created_at)`,
  `create table files (
    id uuid primary key,
    wallet text not null,
    media_type text not null,
    size_bytes integer not null default 0,
    is_complete boolean not null default false,
    created_at timestamptz not null default now(),
    expires_at timestamptz not null
  )`,
  `create index files_wallet on files (wallet)`,
  `create index files_expires on files (expires_at)`,
  `create table file_parts (
    file_id uuid not null references files (id) on delete cascade,
    position integer not null,
    sealed bytea not null,
    primary key (file_id, position)
  )`,
];
