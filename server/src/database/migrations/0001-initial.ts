import { sql, type Kysely } from 'kysely';

/** The first form of every table. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table used_challenges (
    digest bytea primary key,
    expires_at timestamptz not null
  )`,
  `create table api_keys (
    id uuid primary key,
    wallet text not null,
    label text not null,
    digest bytea not null unique,
    created_at timestamptz not null default now(),
    revoked_at timestamptz
  )`,
  `create index api_keys_wallet on api_keys (wallet)`,
  `create table creators (
    wallet text primary key,
    display_name text
  )`,
  `create table listings (
    id text primary key,
    creator text not null references creators (wallet),
    title text not null,
    description text not null,
    category text[] not null,
    rental_model text check (rental_model in ('one_time', 'subscription', 'per_query')),
    price_lamports bigint,
    min_deposit_lamports bigint,
    runs_per_minute integer,
    status text not null check (status in ('draft', 'active', 'paused', 'closed')),
    address text not null unique,
    metadata_uri text not null,
    sample_output jsonb not null,
    version_id uuid not null,
    review_state text not null check (review_state in ('pending', 'approved', 'rejected')),
    run_count integer not null default 0,
    completed_count integer not null default 0,
    rating_sum integer not null default 0,
    review_count integer not null default 0,
    published_at timestamptz,
    updated_at timestamptz not null default now(),
    created_at timestamptz not null default now(),
    slot bigint not null default 0,
    document tsvector generated always as (
      setweight(to_tsvector('english', title), 'A') || setweight(to_tsvector('english', description), 'B')
    ) stored,
    check (status = 'draft' or (rental_model is not null and price_lamports is not null
      and min_deposit_lamports is not null and published_at is not null))
  )`,
  `create index listings_document on listings using gin (document) where status = 'active'`,
  `create index listings_newest on listings (published_at desc, id) where status = 'active'`,
  `create index listings_price on listings (price_lamports, id) where status = 'active'`,
  `create index listings_creator on listings (creator)`,
  `create table agent_versions (
    id uuid primary key,
    listing_id text not null references listings (id),
    input_schema jsonb not null,
    output_schema jsonb not null,
    timeout_seconds integer not null,
    private_part bytea not null,
    created_at timestamptz not null default now()
  )`,
  `create table registration_jobs (
    id uuid primary key,
    wallet text not null,
    status text not null check (status in ('queued', 'completed', 'failed')),
    body bytea,
    error jsonb,
    listing_id text references listings (id),
    created_at timestamptz not null default now()
  )`,
  `create table credentials (
    address text primary key,
    buyer text not null,
    listing_address text not null,
    rental_model text not null,
    valid boolean not null,
    purchased_at timestamptz not null,
    expires_at timestamptz,
    slot bigint not null
  )`,
  `create index credentials_buyer on credentials (buyer, purchased_at desc)`,
  `create table balances (
    address text primary key,
    buyer text not null,
    listing_address text not null,
    balance_lamports bigint not null,
    max_price_lamports bigint not null,
    highest_sequence bigint not null,
    window_bits bytea not null,
    slot bigint not null
  )`,
  `create index balances_buyer on balances (buyer)`,
  `create table index_cursor (
    program_id text primary key,
    signature text not null
  )`,
  `create table runs (
    id uuid primary key,
    listing_id text not null references listings (id),
    version_id uuid not null,
    wallet text not null,
    status text not null check (status in ('running', 'completed', 'failed', 'undelivered')),
    idempotency_key text,
    request_digest bytea not null,
    cost_lamports bigint not null default 0,
    duration_ms integer,
    output bytea,
    created_at timestamptz not null default now(),
    finished_at timestamptz
  )`,
  // One run per key and wallet: what makes a repeated request a repeat and not a second run.
  `create unique index runs_idempotency_key on runs (wallet, idempotency_key)`,
  `create index runs_running on runs (id) where status = 'running'`,
  `create table seats (
    run_id uuid primary key references runs (id),
    listing_id text not null,
    expires_at timestamptz not null
  )`,
  `create index seats_listing on seats (listing_id, expires_at)`,
  `create table charges (
    run_id uuid primary key references runs (id),
    wallet text not null,
    listing_id text not null,
    balance_address text not null,
    price_lamports bigint not null,
    sequence bigint not null,
    state text not null
      check (state in ('reserved', 'signed', 'confirmed', 'finalized', 'failed', 'credited', 'lost')),
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
  )`,
  `create unique index charges_sequence on charges (balance_address, sequence)`,
  `create index charges_open on charges (balance_address) where state in ('reserved', 'signed', 'confirmed')`,
  `create table charge_signatures (
    signature text primary key,
    run_id uuid not null references charges (run_id),
    wire bytea not null,
    last_valid_block_height bigint not null,
    created_at timestamptz not null default now()
  )`,
  `create index charge_signatures_run on charge_signatures (run_id)`,
  `create table credits (
    run_id uuid primary key references runs (id),
    wallet text not null,
    listing_id text not null,
    used_by_run_id uuid references runs (id),
    created_at timestamptz not null default now()
  )`,
  `create index credits_unused on credits (wallet, listing_id) where used_by_run_id is null`,
];
