import { ApiError } from '../../http/api-error.js';
import type { Adoption } from './adoption.js';
import type { DeliveryTracking } from '../delivery/delivery-tracking.js';
import { requireHope } from './waiting-callers.js';
import type { Task } from '../pipeline/parse.js';
import { saltedDigest, type RunRepository, type RunRow } from '../history/repository.js';

/** Makes repeated requests under one idempotency key one run. */
export interface Idempotency {
  /** What is on record under a key; to be asked for before the request is understood. */
  findByKey(wallet: string, idempotencyKey: string | undefined): Promise<RunRow | undefined>;
  /**
   * The run that a request under a used key repeats; its caller counts as waiting for it.
   *
   * @param looked what is on record; absent: looks itself.
   * @throws ApiError `invalid_request` for another request under the same key, and for a run that was cancelled.
   */
  find(task: Task, looked?: Promise<RunRow | undefined>): Promise<string | undefined>;
  /**
   * Writes the run down as begun; false when a request under the same key came first, or, for a caller that would
   * rather take a run over, when there is one to be looked at again.
   */
  begin(task: Task, how?: { adoption?: Adoption | undefined; isDurable?: boolean }): Promise<boolean>;
  /**
   * Whether a run that was written down may go on. It is asked afterwards, as a cancel looks for runs after it has written
   * down the key: whichever comes second sees the other.
   *
   * @throws ApiError `invalid_request` when the key was cancelled before the run was written down.
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
        throw new ApiError(
          'invalid_request',
          'Idempotency-Key: was used for another request. Use a new key.',
        );
      }
      if (row.status !== 'running' && !runs.toFinished(row)) requireHope(row);
      await deliveryTracking.arrive(row.id);
      return row.id;
    },
    begin: (task, { adoption, isDurable } = {}) =>
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
        { alone: adoption && { isPatient: adoption.isPatient }, isDurable },
      ),
    async requireNotCancelled({ runId, wallet, idempotencyKey }) {
      if (idempotencyKey === undefined || !(await runs.isKeyCancelled(wallet, idempotencyKey))) return;
      // So that it stays on record, and its key with it.
      await runs.requestStop(runId, 'cancelled');
      throw new ApiError(
        'invalid_request',
        'Idempotency-Key: was cancelled before this request came. Nothing was charged. Use a new key.',
      );
    },
  };
}
