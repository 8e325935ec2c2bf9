import { sql } from 'kysely';
import type { Db } from '../database/connection.js';

/** Runs that one round looks at. */
const MOST_RUNS = 1_000;
/**
 * The least time for which a run is checked. A transaction that began before its end may commit a reservation, or the use
 * of a credit, after it.
 */
const KEPT = sql`interval '10 minutes'`;

/** The undelivered runs that are due, the earliest alone, as a subquery. */
export const dueUndeliveredRuns = sql`
  select run_id from undelivered_runs where next_attempt_at <= now() order by next_attempt_at limit ${MOST_RUNS}`;

/**
 * Claims the undelivered runs that are due. No other replica gets them before their next attempt. Its delay doubles from
 * 2 s up to 17 minutes. Beyond the credits of a day a run waits for a day.
 */
export async function takeUndeliveredRuns(db: Db): Promise<string[]> {
  const { rows } = await sql<{ run_id: string }>`
    update undelivered_runs
    set next_attempt_at = now() + make_interval(secs => 2 * 2 ^ least(attempts, 9)), attempts = attempts + 1
    where run_id = any (array(${dueUndeliveredRuns} for update skip locked))
    returning run_id`.execute(db);
  return rows.map(({ run_id: runId }) => runId);
}

/** Looks no more at runs without a pending credit. Triggers note a run again that needs one. */
export async function closeUndeliveredRuns(db: Db, runIds: readonly string[]): Promise<void> {
  await sql`
    delete from undelivered_runs
    where run_id = any (${[...runIds]}::uuid[]) and noted_at < now() - ${KEPT}
      and coalesce((select state from charges where charges.run_id = undelivered_runs.run_id), 'failed')
        in ('failed', 'lost', 'credited')
      and (select count(*) from credits where used_by_run_id = undelivered_runs.run_id) = 0`.execute(db);
}

/** Makes the next attempt of every undelivered run due now. */
export async function makeUndeliveredRunsDue(db: Db): Promise<void> {
  await sql`update undelivered_runs set next_attempt_at = now() where next_attempt_at > now()`.execute(db);
}
