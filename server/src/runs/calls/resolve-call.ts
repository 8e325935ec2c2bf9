import { CHARGE_WAIT_SECONDS } from '@agent-rental/contract';
import type { Owner } from '../../access/owner.js';
import { ApiError } from '../../errors/api-error.js';
import { ChargePendingError } from '../../settlement/index.js';
import type { RunRepository, RunRow } from '../history/repository.js';
import { serverStops, type RunChanges } from '../live/run-changes.js';
import { freeFrom, type Order } from '../task.js';
import { requireResultPossible, type Caller } from './waiting-callers.js';

/** The longest wait for the charge of an undelivered run. */
const CHARGE_WAIT_MS = CHARGE_WAIT_SECONDS * 1_000;

/** Whether a request is a new call, or the same call as an earlier one. */
export type ResolvedCall =
  | { readonly kind: 'new' }
  /** `join`: its run goes on. `replay`: its run has ended, and the result is kept. */
  | { readonly kind: 'join' | 'replay'; readonly run: RunRow };

const NEW: ResolvedCall = { kind: 'new' };

/**
 * Finds the call that a request repeats: the run of the caller under the request's key. A key with a window is free again
 * that long after the end of its run, and once its run was stopped. The key of an undelivered run is free once its charge
 * has ended, which is waited for.
 *
 * @throws ApiError `invalid_request` for another request under the key, for a cancelled run, and for an expired result.
 *   ChargePendingError where the charge takes too long. The reason of `caller.gone`.
 */
export async function resolveCall(
  deps: { runs: RunRepository; changes: RunChanges },
  { owner, key, digest }: Order,
  caller: Pick<Caller, 'gone' | 'patienceMs'>,
): Promise<ResolvedCall> {
  const run = key && (await deps.runs.findByKey(owner, key.name));
  if (run === undefined || isFree(run, key?.windowSeconds)) return NEW;
  if (!run.request_digest.equals(digest)) {
    throw new ApiError('invalid_request', 'The key of this request was used for another one.', {
      next: 'Use a new Idempotency-Key.',
    });
  }
  if (run.status === 'running') return { kind: 'join', run };
  if (deps.runs.toFinished(run)) return { kind: 'replay', run };
  requireResultPossible(run);
  await chargeEnded(deps, run.id, owner, caller);
  return NEW;
}

/** Whether a key with a window is free for another run. `start_runs` decides by the same rule. */
function isFree({ stop_reason, finished_at }: RunRow, windowSeconds: number | undefined): boolean {
  if (windowSeconds === undefined) return false;
  return stop_reason !== null || (finished_at !== null && finished_at <= freeFrom(windowSeconds));
}

/** Waits until an undelivered run has freed its key: no charge of it can land any more. */
async function chargeEnded(
  { runs, changes }: { runs: RunRepository; changes: RunChanges },
  id: string,
  owner: Owner,
  { gone, patienceMs = CHARGE_WAIT_MS }: Pick<Caller, 'gone' | 'patienceMs'>,
): Promise<void> {
  const deadline = performance.now() + Math.min(patienceMs, CHARGE_WAIT_MS);
  const watch = changes.watch(id);
  try {
    for (;;) {
      const isFreed =
        (await runs.freeSettledKey(id)) || (await runs.find(id, owner))?.idempotency_key == null;
      if (isFreed) return;
      gone.throwIfAborted();
      const leftMs = deadline - performance.now();
      if (leftMs <= 0) throw new ChargePendingError(id);
      if (!(await watch.next(leftMs, gone))) throw serverStops(id);
    }
  } finally {
    watch.close();
  }
}
