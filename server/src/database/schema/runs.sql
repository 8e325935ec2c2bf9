create table runs (
  id uuid primary key,
  listing_id text not null references listings (id),
  version_id uuid not null,
  wallet text not null,
  api_key_id uuid,
  status text not null check (status in ('running', 'completed', 'failed', 'undelivered')),
  idempotency_key text,
  request_digest bytea not null,
  cost_lamports bigint not null default 0,
  duration_ms integer,
  output bytea,
  output_bytes integer generated always as (octet_length(output)) stored,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  waiters integer not null default 1,
  left_at timestamptz,
  keeps_going boolean not null default false,
  stop_reason text check (stop_reason in ('cancelled', 'caller_left')),
  outcome text check (outcome in ('completed', 'failed')),
  error jsonb,
  salt bytea,
  input_digest bytea,
  output_digest bytea,
  output_left_at timestamptz,
  failure_class text,
  failure_http_status integer,
  is_trial boolean not null default false
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02,
  -- Removed results fill the disk until they are vacuumed, and a flood of results is faster than a vacuum that pauses.
  toast.autovacuum_vacuum_cost_delay=0);
create unique index runs_idempotency_key on runs (wallet, idempotency_key);
create index runs_list on runs (wallet, created_at, id);
create index runs_listing_list on runs (wallet, listing_id, created_at, id);
create index runs_of_key on runs (api_key_id, created_at, id) where api_key_id is not null;
create index runs_of_key_and_listing on runs (api_key_id, listing_id, created_at, id) where api_key_id is not null;
create index runs_of_listing on runs (listing_id, created_at, id);
create index runs_results on runs (finished_at) where output is not null;
create index runs_results_of_listing on runs (listing_id, finished_at, id) include (output_bytes)
  where output is not null and finished_at is not null;
create index runs_results_of_wallet on runs (wallet, finished_at, id) include (output_bytes)
  where output is not null and finished_at is not null;
create index runs_running on runs (id) where status = 'running';
create index runs_undelivered on runs (id) where status = 'undelivered';

-- A renter's counts of ended runs and their cost, by day in UTC and listing (`fold_run_counts`). The owner is a wallet, or an
-- API key by its id: a run of a key is counted for both.
create table renter_stats (
  owner text not null,
  started_at timestamptz not null,
  listing_id text not null,
  completed integer not null,
  failed integer not null,
  undelivered integer not null,
  spent_lamports bigint not null,
  primary key (owner, started_at, listing_id)
) with (fillfactor=80);
create index renter_stats_age on renter_stats (started_at);

-- The most that the results of a wallet, or of a listing, take. It is exact when the oldest of them are removed.
create table kept_results (
  kind text not null check (kind in ('wallet', 'listing')),
  holder text not null,
  bytes bigint not null,
  primary key (kind, holder)
);

-- Free runs that wallets have had.
create table trials (
  wallet text not null,
  listing_id text not null,
  run_id uuid not null unique references runs (id) on delete cascade,
  taken_at timestamptz not null default now(),
  address text,
  primary key (wallet, listing_id)
);
create index trials_of_listing on trials (listing_id, taken_at);
create index trials_with_address on trials (taken_at) where address is not null;

-- The contexts that callers of A2A gave to their runs.
create table a2a_contexts (
  run_id uuid primary key references runs (id) on delete cascade,
  context_id text not null
);

create table cancelled_keys (
  wallet text not null,
  idempotency_key text not null,
  created_at timestamptz not null default now(),
  primary key (wallet, idempotency_key)
);
create index cancelled_keys_created on cancelled_keys (created_at);

-- Orders slots and waiting runs.
create sequence seat_turns;

create table seats (
  run_id uuid primary key references runs (id),
  listing_id text not null,
  expires_at timestamptz not null,
  wallet text,
  place bigint not null default nextval('seat_turns')
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
create index seats_place on seats (listing_id, place);

-- Runs that wait for a slot of their listing.
create table seat_line (
  run_id uuid primary key references runs (id),
  listing_id text not null,
  wallet text not null,
  is_priority boolean not null,
  turn bigint not null,
  place bigint not null default nextval('seat_turns'),
  expires_at timestamptz not null
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=1000);
create index seat_line_order on seat_line (listing_id, is_priority desc, turn, place);
create index seat_line_place on seat_line (listing_id, place);

create trigger count_undelivered_run
  after update of status on runs
  for each row
  when (new.status = 'undelivered' and old.status = 'running')
  execute function count_undelivered_run();
create trigger log_ended_run
  after update of status on runs
  for each row
  when (old.status = 'running' and new.status <> 'running')
  execute function log_ended_run();
create trigger note_undelivered_run
  after update of status on runs
  for each row
  when (new.status = 'undelivered' and old.status <> 'undelivered' and new.output_left_at is null)
  execute function note_undelivered_run();
create trigger return_trial
  after update of status on runs
  for each row
  when (new.status = 'undelivered' and new.is_trial and new.output_left_at is null)
  execute function return_trial();
