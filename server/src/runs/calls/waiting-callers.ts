import type { Owner } from '../../access/owner.js';
import { ApiError } from '../../errors/api-error.js';
import type { Logger } from '../../platform/logger.js';
import { ChargePendingError } from '../../settlement/index.js';
import { serverStops, type RunChanges } from '../live/run-changes.js';
import type { CallerCounts } from '../history/caller-counts.js';
import type { FinishedRun, RunRepository, RunRow } from '../history/repository.js';

/** A caller that waits for a run. */
export interface Caller {
  /** Aborted when the connection is gone. */
  readonly gone: AbortSignal;
  /** Prefers to be told after so many milliseconds that the run goes on; undefined: waits for its end. */
  readonly patienceMs: number | undefined;
  /** Has a key under which it can ask again. */
  readonly mayComeBack: boolean;
  /** Its run goes on without it, as with patience: the caller paid for it and has no other hold on it than this request. */
  readonly hasPaid?: boolean;
}

/** A run that goes on after its caller was answered. */
interface RunningRun {
  runId: string;
  agentId: string;
  status: 'running';
}

/** The answer to a caller: the end of the run, or that it goes on. */
export type Answer = FinishedRun | RunningRun;

/** Connects callers with runs, which do not depend on their callers. */
export interface WaitingCallers {
  /**
   * Waits for the work that this caller began, here in this process.
   *
   * @throws the error of the work; the reason of `gone`.
   */
  waitFor(
    run: { runId: string; agentId: string },
    caller: Caller,
    work: Promise<FinishedRun>,
  ): Promise<Answer>;
  /**
   * Waits for a run that another request started, on any replica.
   *
   * @throws ApiError that the first caller got, where the run was not delivered; the reason of `gone`.
   */
  join(runId: string, owner: Owner, caller: Caller): Promise<Answer>;
}

export function createWaitingCallers(deps: {
  runs: RunRepository;
  callerCounts: CallerCounts;
  changes: RunChanges;
  logger: Logger;
  /** How long a caller that sent an idempotency key may be away before its run is stopped. */
  graceMs: number;
}): WaitingCallers {
  const { runs, callerCounts, changes, logger, graceMs } = deps;

  /** Requests a stop of the run after the grace, unless a caller waits for it by then. */
  function stopLater(runId: string): void {
    const timer = setTimeout(() => {
      runs
        .requestStopIfLeft(runId, graceMs)
        .then((asked) => (asked ? changes.announce(runId) : undefined))
        .catch((err: unknown) => logger.warn({ err, run_id: runId }, 'a run without a caller goes on'));
    }, graceMs);
    // If this server ends, the run ends by its time limit.
    timer.unref();
  }

  /** Records that a caller left, and stops the run if it may not go on without one. */
  async function depart(runId: string, caller: Caller): Promise<void> {
    if (caller.patienceMs !== undefined || caller.hasPaid === true) {
      await callerCounts.detach(runId, { keepRunning: true });
    } else if (caller.mayComeBack) {
      await callerCounts.detach(runId, { keepRunning: false });
      stopLater(runId);
    } else {
      await callerCounts.detach(runId, { keepRunning: false });
      if (await runs.requestStop(runId, 'caller_left')) await changes.announce(runId);
    }
  }

  return {
    async waitFor({ runId, agentId }, caller, work) {
      // May stay unawaited when the caller leaves; the record has the end.
      work.catch(() => undefined);
      let timer: NodeJS.Timeout | undefined;
      const parted = new Promise<undefined>((resolve) => {
        if (caller.patienceMs !== undefined) timer = setTimeout(() => resolve(undefined), caller.patienceMs);
        caller.gone.addEventListener('abort', () => resolve(undefined), { once: true });
        if (caller.gone.aborted) resolve(undefined);
      });
      try {
        const finished = await Promise.race([work, parted]);
        if (finished) return finished;
        await depart(runId, caller);
        caller.gone.throwIfAborted();
        return { runId, agentId, status: 'running' };
      } catch (error) {
        // The result is held until its charge lands: the caller may ask for it by the run's id.
        if (error instanceof ChargePendingError) await callerCounts.detach(runId, { keepRunning: true });
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },

    async join(runId, owner, caller) {
      const watch = changes.watch(runId);
      const deadline = performance.now() + (caller.patienceMs ?? Number.POSITIVE_INFINITY);
      try {
        await callerCounts.arrive(runId);
        for (;;) {
          const row = await runs.find(runId, owner);
          const finished = row && runs.toFinished(row);
          if (finished) return finished;
          if (row?.status !== 'running') throw errorOfUndelivered(row);
          const leftMs = deadline - performance.now();
          if (leftMs <= 0 || caller.gone.aborted) {
            await depart(runId, caller);
            caller.gone.throwIfAborted();
            return { runId, agentId: row.listing_id, status: 'running' };
          }
          if (!(await watch.next(leftMs, caller.gone))) {
            await callerCounts.detach(runId, { keepRunning: true });
            throw serverStops(runId);
          }
        }
      } finally {
        watch.close();
      }
    },
  };
}

/** The error for a caller that waited for a run which was not delivered. A run that was refused early leaves no record. */
export function errorOfUndelivered(row?: RunRow): ApiError {
  if (row !== undefined) requireResultPossible(row);
  if (row?.error) return new ApiError(row.error.code, row.error.message, { runId: row.id });
  return new ApiError('service_unavailable', 'The same call was refused before its run started.', {
    next: 'Call again.',
    retryAfterSeconds: 1,
  });
}

/** Refuses to wait for a run that has ended without a result that can be given. */
export function requireResultPossible(row: RunRow): void {
  if (row.status === 'undelivered' && row.stop_reason === 'cancelled') {
    throw new ApiError('invalid_request', 'The run of this request was cancelled.', {
      next: 'Nothing is run again under its Idempotency-Key; use a new one.',
      runId: row.id,
    });
  }
  if (row.status === 'completed' || row.status === 'failed') {
    throw new ApiError(
      'invalid_request',
      'The run of this request has ended, and its result is no longer kept.',
      {
        next: 'Use a new Idempotency-Key.',
        runId: row.id,
      },
    );
  }
}
