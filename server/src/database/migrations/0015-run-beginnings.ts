import { sql, type Kysely } from 'kysely';

/** Begins a run in one call, where a turn among equal requests, the look for them and the row were one each. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
}

// A run may be taken over for ten minutes after its last caller left. An answer that was not noted as delivered or lost
// for a minute never will be: its server is gone.
const STATEMENTS = [
  // Runs whose answer has not reached anybody: those that were left, and those that somebody seems to wait for. A view, so
  // that whoever waits for a row of it looks at that row again.
  `create view unheard_runs as
    select id, wallet, listing_id, request_digest, left_at from runs
    where delivered_at is null and status <> 'undelivered' and stop_reason is null
      and case when left_at is null
        then status = 'running' or finished_at >= now() - interval '1 minute'
        else left_at >= now() - interval '10 minutes' and (status = 'running' or output is not null) end`,
];
