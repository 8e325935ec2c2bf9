-- What happened to wallets, for 30 days. Triggers and jobs write a row in the transaction that makes it true. Readers go by
-- `position`, which `place_events` gives to committed rows: `added` is committed out of order.
create table events (
  id uuid primary key default gen_random_uuid(),
  added bigint generated always as identity not null,
  position bigint,
  wallet text not null,
  name text not null,
  subject text not null,
  sequence bigint not null,
  data jsonb not null,
  api_key_id uuid,
  created_at timestamptz not null default now()
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_insert_scale_factor=0.05, autovacuum_analyze_scale_factor=0.02);
create index events_age on events (created_at);
create index events_of_subject on events (wallet, subject, sequence);
create index events_of_wallet on events (wallet, position);
create index events_without_position on events (wallet, added) where position is null;
-- Which events wallets hear of, where they have set it.
create table event_settings (
  wallet text primary key,
  low_balance_runs integer not null check (low_balance_runs > 0)
);
-- For the job that tells of the end of rentals.
create index credentials_end on credentials (expires_at) where valid and expires_at is not null;

create trigger tell_ended_run
  after update of status on runs
  for each row
  when (old.status = 'running' and new.status <> 'running')
  execute function tell_ended_run();
create trigger tell_credit
  after insert on credits
  for each row execute function tell_credit();
create trigger tell_rental
  after insert on credentials
  for each row
  when (new.valid)
  execute function tell_rental();
create trigger tell_balance
  after update of balance_lamports on balances
  for each row
  when (new.balance_lamports < old.balance_lamports)
  execute function tell_balance();
create trigger tell_withdrawal
  after update of earnings_lamports on escrows
  for each row
  when (new.earnings_lamports - old.earnings_lamports < new.total_earned_lamports - old.total_earned_lamports)
  execute function tell_withdrawal();
create trigger tell_new_approval
  after insert on spending_approvals
  for each row execute function tell_approval();
create trigger tell_answered_approval
  after update of state on spending_approvals
  for each row
  when (old.state = 'open' and new.state <> 'open')
  execute function tell_approval();
create trigger tell_new_key
  after insert on api_keys
  for each row execute function tell_new_key();
create trigger tell_review
  after insert on reviews
  for each row execute function tell_review();
create trigger tell_creator_of_listing
  after update of review_state, failing_since on listings
  for each row
  when (old.review_state is distinct from new.review_state or (old.failing_since is null) <> (new.failing_since is null))
  execute function tell_creator_of_listing();
create trigger tell_renters_of_listing
  after update of status, price_lamports, version_id on listings
  for each row
  when (old.status <> 'draft' and (old.status <> new.status or old.price_lamports <> new.price_lamports
    or old.version_id <> new.version_id))
  execute function tell_renters_of_listing();
