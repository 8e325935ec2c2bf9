import type { IndexedStatus } from '../../credentials/index.js';
import { recordRun } from '../history/record-run.js';
import type { FinishedRun } from '../history/repository.js';
import type { Task } from '../task.js';
import { admit } from './admit.js';
import { carryOut } from './carry-out.js';
import { requestAccessState } from './check.js';
import type { RunTaskDeps, TaskRequest } from './request.js';
import { slotRequest } from './slot.js';

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
    leaves.push(deps.slots.countDemand(slotRequest(admitted)));
    const requested = requestAccessState(deps, admitted);
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
