import { ApiError } from '../platform/api-error.js';
import type { Task } from './parse.js';
import type { FinishedRun, RunRepository } from './run-repository.js';

const POLL_MS = 200;

/** Makes repeated requests under one idempotency key one run. */
export interface Repeats {
  /**
   * The run that a request under a used key repeats; waits for its end when it still runs.
   *
   * @throws ApiError `invalid_request` for another request under the same key; the signal's reason when aborted.
   */
  find(task: Task, signal: AbortSignal): Promise<FinishedRun | undefined>;
  /** Writes the run down as begun; gives the other run when a request under the same key came first. Throws as `find`. */
  begin(task: Task, signal: AbortSignal): Promise<FinishedRun | undefined>;
  /** The run of this process under a key has ended. */
  end(task: Task): void;
  /**
   * Says that a caller with a key went away. The run goes on for a while, in case it comes back; `stop` is called
   * when it has not.
   */
  callerLeft(wallet: string, idempotencyKey: string, stop: () => void): void;
}

/** A caller that sent a key may come back for its run this long after it left. */
const GRACE_MS = 30_000;

export function createRepeats(runs: RunRepository): Repeats {
  /** Runs without a caller, by wallet and key, until they are stopped. */
  const left = new Map<string, NodeJS.Timeout>();
  const nameOf = (wallet: string, key: string) => `${wallet} ${key}`;
  const keep = (name: string) => {
    clearTimeout(left.get(name));
    left.delete(name);
  };
  const find = async (task: Task, signal: AbortSignal): Promise<FinishedRun | undefined> => {
    const { idempotencyKey, wallet } = task;
    if (idempotencyKey === undefined) return undefined;
    for (;;) {
      const row = await runs.findByKey(wallet, idempotencyKey);
      if (!row) return undefined;
      if (!row.request_digest.equals(task.digest)) {
        throw new ApiError(
          'invalid_request',
          'Idempotency-Key: was used for another request. Use a new key.',
        );
      }
      const finished = runs.toFinished(row);
      if (finished) return finished;
      // Still running, here or on another replica, or just given up: look again.
      keep(nameOf(wallet, idempotencyKey));
      signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  };
  return {
    find,
    async begin(task, signal) {
      for (;;) {
        const begun = await runs.begin({
          id: task.runId,
          listingId: task.listing.id,
          versionId: task.listing.version.id,
          wallet: task.wallet,
          idempotencyKey: task.idempotencyKey,
          requestDigest: task.digest,
        });
        if (begun) return undefined;
        const repeated = await find(task, signal);
        if (repeated) return repeated;
      }
    },
    end(task) {
      if (task.idempotencyKey !== undefined) keep(nameOf(task.wallet, task.idempotencyKey));
    },
    callerLeft(wallet, idempotencyKey, stop) {
      const name = nameOf(wallet, idempotencyKey);
      keep(name);
      left.set(name, setTimeout(stop, GRACE_MS));
    },
  };
}
