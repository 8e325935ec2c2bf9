import type { Drain } from '../../platform/drain.js';
import { createDeadline } from '@agent-rental/contract';
import { requireNotCancelled } from '../calls/resolve-call.js';
import type { RunRepository } from '../history/repository.js';
import type { Entry, SlotRequest } from '../queue/slot-repository.js';
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
    const refused = new AbortController();
    const allowed = requireNotCancelled(deps.runs, task).catch((error: unknown) => refused.abort(error));
    // A run that entered with a slot waits for nothing: the server that shuts down lets it end.
    const leaves = entered === 'seated' ? [] : [deps.drain.started];
    const ends = createDeadline(undefined, stop, refused.signal, ...leaves);
    try {
      await deps.slots.take(slotRequest(task), ends.signal, entered);
    } finally {
      ends.clear();
    }
    await allowed;
    refused.signal.throwIfAborted();
  },
);

/** The slot that a task asks for. */
export function slotRequest({ runId, listing, wallet, isPriority }: Task): SlotRequest {
  return { runId, listingId: listing.id, wallet, isPriority };
}
