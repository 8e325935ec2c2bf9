import { ChargePendingError, type SentCharge, type Settlement } from '../../settlement/index.js';
import type { AgentContact } from '../agents/contact.js';
import type { AgentOutcome } from '../agents/outcome.js';
import { outputAsText, type OutputGate } from '../delivery/output-gate.js';
import type { Task } from '../task.js';
import type { FinishedRun, RunRepository } from '../history/repository.js';
import type { Allowance } from '../../spending/index.js';
import type { Trials } from '../trials/trials.js';
import { step } from './steps.js';

/** The parts that delivering uses. */
export interface DeliverDeps {
  settlement: Pick<Settlement, 'isReleased' | 'releaseReservation' | 'returnCredit'>;
  runs: Pick<RunRepository, 'finish' | 'hold' | 'finishHeld'>;
  trials: Pick<Trials, 'giveBack'>;
}

/**
 * Step 7: waits until the run is paid, then records its end and lets the rest of the output leave. An uncharged run that
 * did not reach its agent costs nothing. If a credit paid for it, or if it was a trial, that is returned.
 *
 * @throws ChargePendingError when the charge takes too long; the result is kept. The error of a charge that failed.
 */
export const deliver = step(
  'deliver',
  async (
    deps: DeliverDeps,
    task: Task,
    paying: {
      charge: SentCharge | undefined;
      usesCredit: boolean;
      allowance: Allowance;
      contact: AgentContact;
    },
    gate: OutputGate,
    outcome: AgentOutcome,
    startedAt: number,
  ): Promise<FinishedRun> => {
    const { charge, usesCredit, allowance, contact } = paying;
    const finished: FinishedRun = {
      runId: task.runId,
      agentId: task.listing.id,
      status: outcome.status,
      output: outcome.output,
      costLamports: charge?.priceLamports ?? 0n,
      durationMs: Math.round(performance.now() - startedAt),
      ...(outcome.status === 'failed' ? { failure: outcome.cause } : {}),
      ...(task.isTrial ? { isTrial: true } : {}),
    };
    try {
      if (charge) finished.costLamports = await charge.confirmed;
    } catch (error) {
      // The result is there and waits for its charge; a request for the run by its id or key gets it then.
      if (error instanceof ChargePendingError) await holdResult(deps, task, finished);
      throw error;
    }
    if (charge && finished.costLamports === 0n) {
      await Promise.all([
        deps.settlement.releaseReservation(task.runId),
        allowance.releaseReservation(task.runId),
      ]);
    }
    if (usesCredit && !contact.isReached) await deps.settlement.returnCredit(task.runId);
    if (task.isTrial && !contact.isReached) await deps.trials.giveBack(task.runId);
    await deps.runs.finish(finished, task.salt);
    gate.markRecorded();
    if (outcome.status === 'completed' && gate.text === '') gate.push(outputAsText(outcome.output));
    return finished;
  },
);

/** Keeps a result until its charge lets it leave. */
async function holdResult(deps: DeliverDeps, task: Task, finished: FinishedRun): Promise<void> {
  await deps.runs.hold(finished, task.salt);
  // That may have happened while the result was written; no notification follows.
  if (await deps.settlement.isReleased(finished.runId)) await deps.runs.finishHeld(finished.runId);
}
