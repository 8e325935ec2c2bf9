create table charges (
  run_id uuid primary key references runs (id),
  wallet text not null,
  listing_id text not null,
  balance_address text not null,
  price_lamports bigint not null,
  sequence bigint not null,
  state text not null check (state in ('reserved', 'signed', 'confirmed', 'finalized', 'failed', 'credited', 'lost')),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  next_attempt_at timestamptz not null default now(),
  attempts integer not null default 0,
  failure_code integer,
  confirmed_at timestamptz,
  awaits_finality boolean not null default false
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
create index charges_due on charges (next_attempt_at) where state in ('signed', 'confirmed');
create index charges_failed_balance on charges (balance_address, updated_at) where state = 'failed' and (failure_code in (6003, 6101));
create index charges_failed_listing on charges (listing_id, updated_at) where state = 'failed' and failure_code = 6104;
create index charges_open on charges (balance_address) where state in ('reserved', 'signed', 'confirmed');
create index charges_open_listing on charges (listing_id) where state in ('reserved', 'signed');
create index charges_reserved on charges (run_id) where state = 'reserved';
create unique index charges_sequence on charges (balance_address, sequence);
create index charges_unfinalized on charges (wallet) where state in ('signed', 'confirmed');

create table charge_signatures (
  signature text not null,
  run_id uuid not null references charges (run_id),
  signed_bytes bytea,
  last_valid_block_height bigint not null,
  created_at timestamptz not null default now(),
  primary key (signature, run_id)
) with (fillfactor=85, autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
create index charge_signatures_run on charge_signatures (run_id);

create table credits (
  run_id uuid primary key references runs (id),
  wallet text not null,
  listing_id text not null,
  used_by_run_id uuid references runs (id),
  created_at timestamptz not null default now(),
  reason text
);
create index credits_given on credits (wallet, listing_id, created_at);
create index credits_of_operators on credits (created_at) where reason is not null;
create index credits_unused on credits (wallet, listing_id) where used_by_run_id is null;
create index credits_used on credits (used_by_run_id) where used_by_run_id is not null;

-- Undelivered runs that may be owed a credit, or have to give one back; triggers on runs, charges and credits write them.
create table undelivered_runs (
  run_id uuid primary key,
  noted_at timestamptz not null default now(),
  next_attempt_at timestamptz not null default now(),
  attempts integer not null default 0
);
create index undelivered_runs_due on undelivered_runs (next_attempt_at);

create trigger clear_finalized_bytes
  after update of state on charges
  for each row
  when (new.state = 'finalized' and old.state <> 'finalized')
  execute function clear_finalized_bytes();
create trigger log_unpaid_run
  after update of state on charges
  for each row
  when (new.state in ('failed', 'lost'))
  execute function log_unpaid_run();
create trigger note_finalized_charge
  after update of state on charges
  for each row
  when (new.state = 'finalized' and old.state <> 'finalized')
  execute function note_finalized_charge();
create trigger note_used_credit
  after update of used_by_run_id on credits
  for each row
  when (new.used_by_run_id is not null)
  execute function note_used_credit();
