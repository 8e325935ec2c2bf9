import { ApiError } from '../platform/api-error.js';
import type { Adoption } from './adoption.js';
import type { Attendance } from './attendance.js';
import { requireHope } from './callers.js';
import type { Task } from './parse.js';
import { saltedDigest, type RunRepository } from './run-repository.js';

/** Makes repeated requests under one idempotency key one run. */
export interface Repeats {
  /**
   * The run that a request under a used key repeats; its caller counts as waiting for it.
   *
   * @throws ApiError `invalid_request` for another request under the same key, and for a run that was cancelled.
   */
  find(task: Task): Promise<string | undefined>;
  /**
   * Writes the run down as begun; false when a request under the same key came first, or, for a caller that would
   * rather take a run over, when there is one to be looked at again.
   *
   * @throws ApiError `invalid_request` when the key was cancelled before.
   */
  begin(task: Task, adoption?: Adoption): Promise<boolean>;
}

export function createRepeats(runs: RunRepository, attendance: Attendance): Repeats {
  return {
    async find(task) {
      const { idempotencyKey, wallet } = task;
      if (idempotencyKey === undefined) return undefined;
      const row = await runs.findByKey(wallet, idempotencyKey);
      if (!row) return undefined;
      if (!row.request_digest.equals(task.digest)) {
        throw new ApiError(
          'invalid_request',
          'Idempotency-Key: was used for another request. Use a new key.',
        );
      }
      if (row.status !== 'running' && !runs.toFinished(row)) requireHope(row);
      await attendance.arrive(row.id);
      return row.id;
    },
    async begin(task, adoption) {
      const run = {
        id: task.runId,
        listingId: task.listing.id,
        versionId: task.listing.version.id,
        wallet: task.wallet,
        idempotencyKey: task.idempotencyKey,
        requestDigest: task.digest,
        salt: task.salt,
        inputDigest: saltedDigest(task.salt, { task: task.task, input: task.input }),
      };
      const begun = adoption
        ? ((await attendance.beginAlone(task, adoption.isPatient, (tx) => runs.begin(run, tx))) ?? false)
        : await runs.begin(run);
      if (!begun || task.idempotencyKey === undefined) return begun;
      // Looked up after the run is written down, as a cancel looks for runs after it has written down the key:
      // whichever comes second sees the other.
      if (!(await runs.isKeyCancelled(task.wallet, task.idempotencyKey))) return true;
      const error = new ApiError(
        'invalid_request',
        'Idempotency-Key: was cancelled before this request came. Nothing was charged. Use a new key.',
      );
      await runs.requestStop(task.runId, 'cancelled');
      await runs.discard(task.runId, error);
      throw error;
    },
  };
}
