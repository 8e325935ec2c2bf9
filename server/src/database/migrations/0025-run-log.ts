import { sql, type Kysely } from 'kysely';

/** The run log: runs that wait for a batch, the batches, and the transactions that put them on-chain. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  `create table run_log_entries (
    run_id uuid primary key,
    seq bigint not null generated always as identity,
    batch bigint,
    leaf_index integer,
    check ((batch is null) = (leaf_index is null))
  )`,
  `create index run_log_entries_pending on run_log_entries (seq) where batch is null`,
  `create table run_log_batches (
    number bigint primary key check (number > 0),
    leaf_count integer not null check (leaf_count > 0),
    previous_root bytea not null,
    root bytea not null,
    nodes bytea not null,
    created_at timestamptz not null default now(),
    signature text,
    next_attempt_at timestamptz not null default now(),
    attempts integer not null default 0
  )`,
  // A proof reads a few nodes out of megabytes, which compression would not allow.
  `alter table run_log_batches alter column nodes set storage external`,
  // The next batch waits until this one is final, so that batches stand on-chain in their order.
  `create unique index run_log_batches_open on run_log_batches ((true)) where signature is null`,
  `create table run_log_signatures (
    signature text primary key,
    batch bigint not null references run_log_batches (number),
    wire bytea not null,
    last_valid_block_height bigint not null,
    created_at timestamptz not null default now()
  )`,
  `create index run_log_signatures_batch on run_log_signatures (batch)`,
  // Triggers, because replicas of the version before end runs too.
  `create trigger log_ended_run after update of status on runs for each row
    when (old.status = 'running' and new.status <> 'running') execute function log_ended_run()`,
  `create trigger log_unpaid_run after update of state on charges for each row
    when (new.state in ('failed', 'lost')) execute function log_unpaid_run()`,
  `insert into run_log_entries (run_id)
    select id from runs
    where status <> 'running' and not exists (
      select from charges where run_id = runs.id and state in ('confirmed', 'finalized', 'credited')
    )
    order by finished_at`,
];
