import {
  ERROR_STATUS,
  RESULT_KEPT_HOURS,
  RESULTS_KEPT_MIB,
  type Cancellation,
  type EndedRun,
  type listRunsQuery,
  type PageEnd,
  type Run,
  type RunState,
  type RunSummary,
} from '@agent-rental/contract';
import type { z } from 'zod';
import type { Owner } from '../../access/owner.js';
import { ApiError } from '../../errors/api-error.js';
import { readListPage } from '../../database/list-page.js';
import type { Settlement } from '../../settlement/index.js';
import type { CallerCounts } from './caller-counts.js';
import type { RunChanges } from '../live/run-changes.js';
import type { FinishedRun, RunRepository, RunRow } from './repository.js';
import type { RunProgress } from './run-progress.js';
import type { ListedRun } from './run-list.js';

/** The longest that a cancel waits for the run to be gone; the run stops all the same. */
const CANCEL_WAIT_MS = 20_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

type ListRuns = z.output<typeof listRunsQuery>;

/** Whether a text may be a run's id at all. */
export const isRunId = (text: string): boolean => UUID.test(text);

/** The refusal of a run that does not exist, or that this owner does not see. */
export const noSuchRun = ({ apiKeyId }: Owner): ApiError =>
  new ApiError(
    'not_found',
    'There is no such run.',
    apiKeyId === undefined
      ? {}
      : { next: 'An API key sees the runs that it began; the login of its wallet sees all.' },
  );

/** Reads and cancels the runs that an owner sees, on any replica. */
export interface PastRuns {
  /**
   * A page of the owner's runs without their outputs, newest first.
   *
   * @throws ApiError `invalid_request` for a cursor that is none of this list.
   */
  list(owner: Owner, query: ListRuns): Promise<{ runs: RunSummary[]; total: number; end: PageEnd }>;
  /**
   * The state of a run. Waits for its end up to `waitMs`.
   *
   * @throws ApiError `not_found` for another owner's run too, and once the result was removed.
   */
  find(runId: string, owner: Owner, waitMs: number, gone: AbortSignal): Promise<RunState>;
  /** Stops a run, and waits until nothing of it is left. @throws ApiError `not_found`. */
  cancel(runId: string, owner: Owner, gone: AbortSignal): Promise<Cancellation>;
  /** Stops the owner's run under an idempotency key, and refuses a request that comes later under it. */
  cancelKey(idempotencyKey: string, owner: Owner, gone: AbortSignal): Promise<Cancellation>;
}

export function createPastRuns(deps: {
  runs: RunRepository;
  callerCounts: Pick<CallerCounts, 'keepRunning'>;
  changes: RunChanges;
  settlement: Pick<Settlement, 'wasCredited'>;
  progressOf(row: RunRow): Promise<RunProgress>;
}): PastRuns {
  const { runs, callerCounts, changes, settlement, progressOf } = deps;

  /** The run's row once it has ended, or at the end of the wait. */
  async function awaitEnd(
    runId: string,
    owner: Owner,
    waitMs: number,
    gone: AbortSignal,
  ): Promise<RunRow | undefined> {
    const deadline = performance.now() + waitMs;
    const watch = changes.watch(runId);
    try {
      for (;;) {
        const row = await runs.find(runId, owner);
        const left = deadline - performance.now();
        if (row?.status !== 'running' || left <= 0 || gone.aborted) return row;
        if (!(await watch.next(left, gone))) return row;
      }
    } finally {
      watch.close();
    }
  }

  async function stop(runId: string, owner: Owner, gone: AbortSignal): Promise<Cancellation> {
    if (await runs.requestStop(runId, 'cancelled')) await changes.announce(runId);
    const row = await awaitEnd(runId, owner, CANCEL_WAIT_MS, gone);
    if (!row) return { cancelled: true };
    return { cancelled: row.stop_reason !== null && row.status !== 'completed', run: await stateOf(row) };
  }

  async function stateOf(row: RunRow): Promise<RunState> {
    const { step, apiKeyLabel } = await progressOf(row);
    const told = apiKeyLabel === undefined ? {} : { api_key_label: apiKeyLabel };
    if (row.status === 'running') {
      const started_at = row.created_at.toISOString();
      return { run_id: row.id, agent_id: row.listing_id, status: 'running', ...told, started_at, step };
    }
    // A run that ended before its stop reached it was not stopped.
    const stopped =
      row.stop_reason === null || row.status === 'completed' ? {} : { stop_reason: row.stop_reason };
    const finished = runs.toFinished(row);
    if (finished) return { ...toRun(finished), ...told, ...stopped };
    if (row.status === 'undelivered') {
      return { ...toUndelivered(row), ...told, ...stopped, credited: await settlement.wasCredited(row.id) };
    }
    throw new ApiError(
      'not_found',
      `The result of this run was removed. Results are kept for ${RESULT_KEPT_HOURS} hours, the newest ` +
        `${RESULTS_KEPT_MIB} MiB of each wallet and each listing.`,
      { next: `GET /v1/runs/${row.id}/receipt still says what happened.` },
    );
  }

  return {
    async list(owner, { agent_id, ...page }) {
      const { rows, total, end } = await readListPage(
        {
          name: `runs ${agent_id ?? 'all'}`,
          isId: isRunId,
          read: (range) => runs.list.page(owner, agent_id, range),
          positionOf: (row) => ({ timeUs: row.created_at_us, id: row.id }),
          count: () => runs.list.count(owner, agent_id),
        },
        page,
      );
      return { runs: rows.map(toSummary), total, end };
    },
    async find(runId, owner, waitMs, gone) {
      const known = isRunId(runId) ? await runs.find(runId, owner) : undefined;
      if (!known) throw noSuchRun(owner);
      // A caller asks for it, so it does not stop.
      if (known.status === 'running') await callerCounts.keepRunning(runId);
      const row = waitMs > 0 ? await awaitEnd(runId, owner, waitMs, gone) : known;
      if (!row) throw noSuchRun(owner);
      return stateOf(row);
    },
    async cancel(runId, owner, gone) {
      const known = isRunId(runId) ? await runs.find(runId, owner) : undefined;
      if (!known) throw noSuchRun(owner);
      return stop(runId, owner, gone);
    },
    async cancelKey(idempotencyKey, owner, gone) {
      // Writes first and reads second, and a request does it in the other order, so at least one of the two sees the other.
      await runs.cancelKey(owner, idempotencyKey);
      const known = await runs.findByKey(owner, idempotencyKey);
      return known ? stop(known.id, owner, gone) : { cancelled: true };
    },
  };
}

function toSummary(row: ListedRun): RunSummary {
  return {
    run_id: row.id,
    agent_id: row.listing_id,
    status: row.status,
    cost_lamports: row.status === 'undelivered' ? 0 : Number(row.cost_lamports),
    duration_ms: row.duration_ms,
    created_at: row.created_at.toISOString(),
    finished_at: row.finished_at?.toISOString() ?? null,
  };
}

/** A finished run as the API gives it. */
export function toRun(finished: FinishedRun): Run {
  return {
    run_id: finished.runId,
    agent_id: finished.agentId,
    status: finished.status,
    output: finished.output,
    cost_lamports: Number(finished.costLamports),
    duration_ms: finished.durationMs,
    ...(finished.isTrial ? { trial: true } : {}),
  };
}

/** A run that could not be served. Its output is the error that its caller got. */
function toUndelivered(row: RunRow): EndedRun {
  const { code, message } = row.error ?? {
    code: 'service_unavailable' as const,
    message: 'The run could not be served. If it was charged, your next run of the agent is free.',
  };
  return {
    run_id: row.id,
    agent_id: row.listing_id,
    status: 'failed',
    output: message,
    cost_lamports: 0,
    duration_ms: (row.finished_at?.getTime() ?? row.created_at.getTime()) - row.created_at.getTime(),
    error: { code, message, status: ERROR_STATUS[code], run_id: row.id },
  };
}
