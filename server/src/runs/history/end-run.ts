import type { RunFailureClass } from '@agent-rental/contract';
import { CompiledQuery } from 'kysely';
import type { Db } from '../../database/connection.js';
import { prepare } from '../../database/prepared-statements.js';
import { removeOldestResults, type Keeper } from './result-quota.js';

/** The record of a run's end. */
export interface RunResult {
  /** Sealed. */
  output: Buffer;
  output_digest: Buffer;
  cost_lamports: bigint;
  duration_ms: number;
  failure_class: RunFailureClass | null;
  failure_http_status: number | null;
}

/**
 * The statement that ends a run. It counts the run for its listing, and the result for its wallet and listing. Where the run
 * was `running`, it gives the counts of both.
 */
const ending = (changes: string, where = '') =>
  prepare(`
  with ended as (
    update runs set ${changes}, outcome = null, finished_at = $2 where id = $1 and status = 'running' ${where}
    returning listing_id, wallet, api_key_id, cost_lamports, status, stop_reason, failure_class, duration_ms, output_bytes
  ), counted as (
    -- Appended rather than added: every run of the listing reads its row, and runs of one listing end at once.
    insert into listing_run_deltas (
      listing_id, run_count, completed_count, measure, detail, duration_ms, wallet, api_key_id, cost_lamports)
      -- Stopped runs must not lower an agent's success rate.
      select listing_id, (status = 'completed' or stop_reason is null)::integer, (status = 'completed')::integer, status,
        case when status = 'completed' then '' else coalesce(failure_class, 'unknown') end, duration_ms,
        wallet, api_key_id, cost_lamports
      from ended
  ), kept as (
    insert into kept_results as known (kind, holder, bytes)
      -- In one order, so that no two ends wait for each other.
      select kind, holder, output_bytes
      from ended, lateral (values ('wallet', wallet), ('listing', listing_id)) as holders (kind, holder) order by kind
    on conflict (kind, holder) do update set bytes = known.bytes + excluded.bytes
    returning kind, holder, bytes
  ) select kind, holder, bytes from kept`);

const END = ending(
  `status = $3, output = $4, output_digest = $5, cost_lamports = $6, duration_ms = $7, failure_class = $8,
  failure_http_status = $9`,
);
const END_HELD = ending('status = outcome', 'and outcome is not null');

/** Ends runs. */
export interface EndRun {
  /** Ends a run that is `running`; gives whether it was. */
  withResult(runId: string, status: 'completed' | 'failed', result: RunResult): Promise<boolean>;
  /** Ends a run with the status of the result that it holds; false when it holds no result. */
  asHeld(runId: string): Promise<boolean>;
}

/** Makes {@link EndRun} over the database. @param quotaBytes the room for the results of a wallet, and of a listing */
export function createEndRun(db: Db, quotaBytes?: number): EndRun {
  const end = async (statement: string, values: unknown[]): Promise<boolean> => {
    const { rows: keepers } = await db.executeQuery<Keeper>(CompiledQuery.raw(statement, values));
    await removeOldestResults(db, keepers, quotaBytes);
    return keepers.length > 0;
  };
  return {
    withResult: (runId, status, result) =>
      end(END, [
        runId,
        new Date(),
        status,
        result.output,
        result.output_digest,
        result.cost_lamports,
        result.duration_ms,
        result.failure_class,
        result.failure_http_status,
      ]),
    asHeld: (runId) => end(END_HELD, [runId, new Date()]),
  };
}
