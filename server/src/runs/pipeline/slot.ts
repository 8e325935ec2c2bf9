import type { Drain } from '../../platform/drain.js';
import { createDeadline } from '@agent-rental/contract';
import { ApiError } from '../../errors/api-error.js';
import type { RunRepository } from '../history/repository.js';
import type { Entry } from '../queue/slot-repository.js';
import type { Slots } from '../queue/slots.js';
import type { Task } from '../task.js';
import { step } from './steps.js';

/** The parts that give a slot. */
export interface SlotDeps {
  slots: Pick<Slots, 'take'>;
  runs: Pick<RunRepository, 'isKeyCancelled' | 'requestStop'>;
  drain: Pick<Drain, 'started'>;
}

/**
 * Step 3: takes one of the listing's concurrency slots, or waits in the queue for one. Nothing is spent there yet, so a
 * stop costs nothing.
 *
 * @param entered the run's slot or place in the queue, taken with its record
 * @throws ApiError `rate_limit_exceeded` when the queue is full or no slot became free in time, the reason of `stop`, and
 *   `invalid_request` for a key that was cancelled.
 */
export const takeSlot = step(
  'slot',
  async (deps: SlotDeps, task: Task, stop: AbortSignal, entered: Entry | undefined): Promise<void> => {
    await requireNotCancelled(deps.runs, task);
    // A run that entered with a slot waits for nothing: the server that shuts down lets it end.
    const leaves = entered === 'seated' ? [] : [deps.drain.started];
    const ends = createDeadline(undefined, stop, ...leaves);
    try {
      await deps.slots.take(task, ends.signal, entered);
    } finally {
      ends.clear();
    }
  },
);

/**
 * Refuses a recorded run whose key was cancelled. Called after the record is written, as a cancel searches for runs after
 * its key is written: the second of the two sees the first.
 *
 * @throws ApiError `invalid_request` when the key was cancelled before the run was recorded.
 */
export async function requireNotCancelled(
  runs: Pick<RunRepository, 'isKeyCancelled' | 'requestStop'>,
  { runId, owner, key }: Pick<Task, 'runId' | 'owner' | 'key'>,
): Promise<void> {
  if (key === undefined || !(await runs.isKeyCancelled(owner, key.name))) return;
  // Keeps the record, and with it the key.
  await runs.requestStop(runId, 'cancelled');
  throw new ApiError('invalid_request', 'This request was cancelled before it arrived.', {
    next: 'Nothing was charged. Use a new Idempotency-Key.',
  });
}
