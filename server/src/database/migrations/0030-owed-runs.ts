import { sql, type Kysely } from 'kysely';

/**
 * Lets the background work read what is still owed, and nothing that is over: a queue of the undelivered runs that may be
 * owed a credit, and indexes over reservations, incomplete files and the newest batches of the run log.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

const STATEMENTS = [
  // Whether a credit is owed depends on the run, its charge and the credit it used: no partial index holds all three.
  `create table undelivered_runs (
    run_id uuid primary key,
    noted_at timestamptz not null default now(),
    next_attempt_at timestamptz not null default now(),
    attempts integer not null default 0
  )`,
  `create index undelivered_runs_due on undelivered_runs (next_attempt_at)`,
  // Triggers, because replicas of the version before end runs and settle charges too.
  `create trigger note_undelivered_run after update of status on runs for each row
    when (new.status = 'undelivered' and old.status <> 'undelivered' and new.output_left_at is null)
    execute function note_undelivered_run()`,
  `create trigger note_finalized_charge after update of state on charges for each row
    when (new.state = 'finalized' and old.state <> 'finalized') execute function note_finalized_charge()`,
  `create trigger note_used_credit after update of used_by_run_id on credits for each row
    when (new.used_by_run_id is not null) execute function note_used_credit()`,
  `insert into undelivered_runs (run_id)
    select id from runs
    where status = 'undelivered' and output_left_at is null and (
      exists (select from charges
        where run_id = runs.id and state in ('reserved', 'signed', 'confirmed', 'finalized'))
      or exists (select from credits where used_by_run_id = runs.id))`,
  `create index charges_reserved on charges (run_id) where state = 'reserved'`,
  `create index files_incomplete on files (created_at) where not is_complete`,
  `create index run_log_batches_created on run_log_batches (created_at)`,
];
