import { setImmediate } from 'node:timers/promises';
import type { Caller } from '../calls/waiting-callers.js';
import type { Slots } from '../queue/slots.js';
import type { Task } from '../task.js';
import type { StartedRun } from './begin-runs.js';
import { saltedDigest, type RunRepository } from './repository.js';
import type { UnrecordedEnds } from './unrecorded-ends.js';

/** Records the run with its place for a slot; undefined where its key has another run. */
export async function recordRun(
  deps: {
    runs: Pick<RunRepository, 'begin'>;
    slots: Pick<Slots, 'bounds'>;
    unrecordedEnds: Pick<UnrecordedEnds, 'note'>;
  },
  task: Task,
  { patienceMs }: Pick<Caller, 'patienceMs'>,
): Promise<StartedRun | undefined> {
  const { runId, owner, listing, key, digest, salt, callback } = task;
  // A large input takes milliseconds to sort: an iteration of the event loop without its other work.
  if (typeof task.input === 'object') await setImmediate();
  const run = {
    id: runId,
    listingId: listing.id,
    versionId: listing.version.id,
    owner,
    key,
    requestDigest: digest,
    salt,
    callback,
    inputDigest: saltedDigest(salt, { task: task.task, input: task.input }),
  };
  try {
    return await deps.runs.begin(run, {
      // A caller that is told "running" must find the run after a crash.
      isDurable: patienceMs !== undefined,
      seat: { isPriority: task.isPriority, bounds: deps.slots.bounds },
    });
  } catch (error) {
    // It may be on record all the same.
    deps.unrecordedEnds.note(runId);
    throw error;
  }
}
