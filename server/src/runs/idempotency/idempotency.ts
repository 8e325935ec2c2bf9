import { ApiError } from '../../http/api-error.js';
import type { Adoption } from './adoption.js';
import type { DeliveryTracking } from '../delivery/delivery-tracking.js';
import { requireResultPossible } from './waiting-callers.js';
import type { Task } from '../pipeline/parse.js';
import type { Beginning, Begun } from '../history/begin-runs.js';
import { saltedDigest, type RunRepository, type RunRow } from '../history/repository.js';

/** Makes repeated requests under one idempotency key one run. */
export interface Idempotency {
  /** Finds the run under a key. Callable before the request is parsed. */
  findByKey(wallet: string, idempotencyKey: string | undefined): Promise<RunRow | undefined>;
  /**
   * Finds the run that a request under a used key repeats, and counts its caller as waiting for it.
   *
   * @param looked result of `findByKey`; absent: queries.
   * @throws ApiError `invalid_request` for another request under the same key, and for a run that was cancelled.
   */
  find(task: Task, looked?: Promise<RunRow | undefined>): Promise<string | undefined>;
  /**
   * Records the run as running. Undefined when a request under the same key was first, or, with `adoption`, when there is an
   * equal run to adopt.
   */
  begin(
    task: Task,
    how?: Omit<Beginning, 'alone'> & { adoption?: Adoption | undefined },
  ): Promise<Begun | undefined>;
  /**
   * Refuses a recorded run whose key was cancelled. Called after the record is written, as a cancel searches for runs after
   * its key is written: the second of the two sees the first.
   *
   * @throws ApiError `invalid_request` when the key was cancelled before the run was recorded.
   */
  requireNotCancelled(task: Task): Promise<void>;
}

export function createIdempotency(runs: RunRepository, deliveryTracking: DeliveryTracking): Idempotency {
  const findByKey: Idempotency['findByKey'] = async (wallet, idempotencyKey) =>
    idempotencyKey === undefined ? undefined : runs.findByKey(wallet, idempotencyKey);
  return {
    findByKey,
    async find(task, looked) {
      const row = await (looked ?? findByKey(task.wallet, task.idempotencyKey));
      if (!row) return undefined;
      if (!row.request_digest.equals(task.digest)) {
        throw new ApiError('invalid_request', 'The key of this request was used for another one.', {
          next: 'Use a new Idempotency-Key.',
        });
      }
      if (row.status !== 'running' && !runs.toFinished(row)) requireResultPossible(row);
      await deliveryTracking.arrive(row.id);
      return row.id;
    },
    begin: (task, { adoption, ...how } = {}) =>
      runs.begin(
        {
          id: task.runId,
          listingId: task.listing.id,
          versionId: task.listing.version.id,
          wallet: task.wallet,
          idempotencyKey: task.idempotencyKey,
          requestDigest: task.digest,
          salt: task.salt,
          inputDigest: saltedDigest(task.salt, { task: task.task, input: task.input }),
        },
        { ...how, alone: adoption && { isPatient: adoption.isPatient } },
      ),
    async requireNotCancelled({ runId, wallet, idempotencyKey }) {
      if (idempotencyKey === undefined || !(await runs.isKeyCancelled(wallet, idempotencyKey))) return;
      // Keeps the record, and with it the key.
      await runs.requestStop(runId, 'cancelled');
      throw new ApiError('invalid_request', 'This request was cancelled before it came.', {
        next: 'Nothing was charged. Use a new Idempotency-Key.',
      });
    },
  };
}
