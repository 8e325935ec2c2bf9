import { CHARGE_WAIT_SECONDS } from '@agent-rental/contract';
import { ApiError } from '../../http/api-error.js';
import type { Logger } from '../../platform/logger.js';
import { ChargePendingError } from '../../settlement/index.js';
import type { DeliveryTracking } from '../delivery/delivery-tracking.js';
import type { RunChanges } from './run-changes.js';
import type { FinishedRun, RunRepository, RunRow } from '../history/repository.js';

/** The longest that a repeat waits for the charge of a run that was not delivered. */
const CHARGE_WAIT_MS = CHARGE_WAIT_SECONDS * 1_000;

/** A caller that waits for a run. */
export interface Caller {
  /** Aborted when the connection is gone. */
  readonly gone: AbortSignal;
  /** Prefers to be told after so many milliseconds that the run goes on; undefined: waits for its end. */
  readonly patienceMs: number | undefined;
  /** Has a key under which it can ask again. */
  readonly mayComeBack: boolean;
}

/** A run that goes on after its caller was answered. */
interface RunningRun {
  runId: string;
  agentId: string;
  status: 'running';
}

/** What a caller gets: the end of the run, or that it goes on. */
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
   * Waits for a run that another request began, on any replica; the caller has been counted as waiting. Undefined
   * when the run was not delivered and its charge, if any, is compensated: the caller begins another one.
   *
   * @throws ApiError when the run was cancelled or its result is no longer kept; the reason of `gone`.
   */
  join(runId: string, wallet: string, caller: Caller): Promise<Answer | undefined>;
  /** A caller's connection broke before it had read its answer. */
  lost(runId: string): Promise<void>;
}

export function createWaitingCallers(deps: {
  runs: RunRepository;
  deliveryTracking: DeliveryTracking;
  changes: RunChanges;
  logger: Logger;
  /** How long a caller that sent an idempotency key may be away before its run is stopped. */
  graceMs: number;
}): WaitingCallers {
  const { runs, deliveryTracking, changes, logger, graceMs } = deps;

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
    if (caller.patienceMs !== undefined) {
      await deliveryTracking.leave(runId, true);
    } else if (caller.mayComeBack) {
      await deliveryTracking.leave(runId, false);
      stopLater(runId);
    } else {
      await deliveryTracking.leave(runId, false);
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
        if (error instanceof ChargePendingError) await deliveryTracking.leave(runId, true);
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },

    async join(runId, wallet, caller) {
      const watch = changes.watch(runId);
      const joinedAt = performance.now();
      const deadline = joinedAt + (caller.patienceMs ?? Number.POSITIVE_INFINITY);
      try {
        for (;;) {
          const row = await runs.find(runId, wallet);
          if (!row) return undefined;
          const finished = runs.toFinished(row);
          if (finished) return finished;
          requireResultPossible(row);
          // An undelivered run keeps its key while its charge may still land: another run would be a second charge.
          const isCharging = row.status === 'undelivered' && row.idempotency_key !== null;
          if (row.status === 'undelivered' && !isCharging) return undefined;
          if (isCharging && (await runs.freeSettledKey(runId))) return undefined;
          if (isCharging && performance.now() - joinedAt > CHARGE_WAIT_MS)
            throw new ChargePendingError(runId);
          const left = Math.min(
            deadline - performance.now(),
            isCharging ? CHARGE_WAIT_MS : Number.POSITIVE_INFINITY,
          );
          if (left <= 0 || caller.gone.aborted) {
            await depart(runId, caller);
            caller.gone.throwIfAborted();
            return { runId, agentId: row.listing_id, status: 'running' };
          }
          if (!(await watch.next(left, caller.gone))) {
            await deliveryTracking.leave(runId, true);
            throw new ApiError('service_unavailable', 'The server is shutting down; the run goes on.', {
              next: 'Ask again.',
              runId,
              retryAfterSeconds: 5,
            });
          }
        }
      } finally {
        watch.close();
      }
    },

    lost: (runId) => deliveryTracking.leave(runId, true),
  };
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
