import { setImmediate } from 'node:timers/promises';
import { RENTAL_TERMS } from '@agent-rental/contract';
import type { Chain } from '../../chain/index.js';
import { readChainAccessState, type IndexedStatus } from '../../credentials/index.js';
import type { StartedRun } from '../history/begin-runs.js';
import { saltedDigest, type FinishedRun, type RunRepository } from '../history/repository.js';
import type { UnrecordedEnds } from '../history/unrecorded-ends.js';
import type { Caller } from '../calls/waiting-callers.js';
import type { Slots } from '../queue/slots.js';
import type { Task } from '../task.js';
import { admit } from './admit.js';
import { carryOut } from './carry-out.js';
import type { RequestedAccessState } from './check.js';
import type { RunTaskDeps, TaskRequest } from './request.js';

/** Step 2, and the run's record, which asks for its slot. Lets the run work by itself; undefined where its key has another run. */
export async function start(
  deps: RunTaskDeps,
  task: Task,
  request: TaskRequest,
  access: IndexedStatus,
): Promise<{ work: Promise<FinishedRun> } | undefined> {
  const leaves = [deps.drain.enter()];
  const { began, over } = deps.startGate.enter(request.receivedAt);
  leaves.push(over);
  const leave = () => leaves.forEach((each) => each());
  let work: Promise<FinishedRun> | undefined;
  try {
    const admitted = await admit(deps, task, request.allowance, access);
    // Abort before charging if the client left, unless it asked for an asynchronous run.
    if (request.caller.patienceMs === undefined) request.caller.gone.throwIfAborted();
    // Before the run is recorded: a refusal has to cost less than a run.
    leaves.push(deps.slots.countDemand(admitted));
    const requested = requestAccessState(deps.chain, admitted);
    const recorded = await recordRun(deps, admitted, request.caller);
    if (recorded === undefined) return undefined;
    work = deps.live.start(admitted.runId, (stop) =>
      carryOut(deps, admitted, request, { stop, began, requested, entered: recorded.entry }),
    );
    return { work };
  } finally {
    if (work) work.then(leave, leave);
    else leave();
  }
}

/**
 * Records the run with its place for a slot; undefined where its key has another run. A run that finds the queue full is
 * recorded, too, and step 3 refuses it.
 */
async function recordRun(
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

/**
 * Requests the access state while the run is recorded and waits for its slot. Undefined for a rental whose check simulates
 * the charge, which tells the same.
 */
function requestAccessState(chain: Chain, { listing, wallet }: Task): RequestedAccessState | undefined {
  if (RENTAL_TERMS[listing.rentalModel].chargesRuns) return undefined;
  const askedAt = performance.now();
  const accessState = readChainAccessState(chain, listing.id, wallet);
  // May stay unawaited; avoids an unhandled rejection.
  accessState.catch(() => undefined);
  return { accessState, askedAt };
}
