import { RENTAL_TERMS } from '@agent-rental/contract';
import type { SentCharge } from '../../settlement/index.js';
import { AgentContact } from '../agents/contact.js';
import { OutputGate } from '../delivery/output-gate.js';
import type { StartedRun } from '../history/begin-runs.js';
import type { FinishedRun } from '../history/repository.js';
import type { Task } from '../task.js';
import { charge } from './charge.js';
import { check, type RequestedAccessState } from './check.js';
import { compensate } from './compensate.js';
import { deliver } from './deliver.js';
import type { RunTaskDeps, TaskRequest } from './request.js';
import { run } from './run.js';
import { takeSlot } from './slot.js';

/** Steps 3 to 7, independent of the request. */
export async function carryOut(
  deps: RunTaskDeps,
  task: Task,
  request: TaskRequest,
  {
    stop,
    began,
    requested,
    entered,
  }: {
    stop: AbortSignal;
    began(): void;
    requested: RequestedAccessState | undefined;
    entered: StartedRun['entry'];
  },
): Promise<FinishedRun> {
  const { runId, listing } = task;
  const { logger, allowance } = request;
  const contact = new AgentContact(() => deps.contacts.reached(listing.version.id));
  // Only runs that are charged are ever credited, and trials given back.
  const isMadeGood = RENTAL_TERMS[listing.rentalModel].chargesRuns || task.isTrial === true;
  const recordFirst = isMadeGood ? () => deps.runs.recordOutputLeft(runId) : undefined;
  const gate = new OutputGate(request.sink, runId, recordFirst);
  let sent: SentCharge | undefined;
  try {
    await takeSlot(deps, task, stop, entered);
    const startedAt = performance.now();
    const checked = await check(deps, task, allowance, { stop, requested });
    sent = await charge(deps, checked, gate, contact, stop);
    const outcome = await run(deps, task, checked, { gate, contact }, { stop, began, logger });
    const paying = { charge: sent, usesCredit: checked.usesCredit, allowance, contact };
    return await deliver(deps, task, paying, gate, outcome, startedAt);
  } catch (error) {
    gate.drop();
    throw await compensate(deps, task, request, { sent, outputHasLeft: gate.hasSent }, error).catch(
      (failure: unknown) => {
        deps.unrecordedEnds.note(runId);
        throw failure;
      },
    );
  } finally {
    deps.live.forget(runId);
    if (!(await deps.slots.free(runId))) deps.unrecordedEnds.note(runId);
  }
}
