-- Ended runs without a charge on-chain; triggers on `runs` and `charges` write them.
create table run_log_entries (
  run_id uuid primary key,
  seq bigint generated always as identity not null,
  batch bigint,
  leaf_index integer,
  check ((batch is null) = (leaf_index is null))
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
create index run_log_entries_pending on run_log_entries (seq) where batch is null;

create table run_log_batches (
  number bigint primary key check (number > 0),
  leaf_count integer not null check (leaf_count > 0),
  previous_root bytea not null,
  root bytea not null,
  nodes bytea not null,
  created_at timestamptz not null default now(),
  signature text,
  next_attempt_at timestamptz not null default now(),
  attempts integer not null default 0
);
create index run_log_batches_created on run_log_batches (created_at);
create unique index run_log_batches_open on run_log_batches ((true)) where signature is null;

create table run_log_signatures (
  signature text primary key,
  batch bigint not null references run_log_batches (number),
  signed_bytes bytea not null,
  last_valid_block_height bigint not null,
  created_at timestamptz not null default now()
);
create index run_log_signatures_batch on run_log_signatures (batch);
