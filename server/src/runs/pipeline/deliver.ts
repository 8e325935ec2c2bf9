import { ChargePendingError, type SentCharge, type Settlement } from '../../settlement/index.js';
import type { AgentContact } from '../agents/contact.js';
import type { AgentOutcome } from '../agents/outcome.js';
import { outputAsText, type OutputGate } from '../delivery/output-gate.js';
import type { Task } from './parse.js';
import type { FinishedRun, RunRepository } from '../history/repository.js';
import type { Allowance } from '../../identity/index.js';

/** What releasing needs. */
export interface ReleaseDeps {
  settlement: Pick<Settlement, 'isConfirmed' | 'release' | 'returnCredit'>;
  runs: Pick<RunRepository, 'finish' | 'hold' | 'finishHeld'>;
}

/**
 * Step 7: paid first; then the rest of the output leaves, and the run is on record. A run that did not reach its agent and
 * was not charged yet costs nothing; one that a credit pays for gets its credit back then.
 *
 * @throws ChargePendingError when the charge takes too long; the result is kept. The error of a charge that failed.
 */
export async function release(
  deps: ReleaseDeps,
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
): Promise<FinishedRun> {
  const { charge, usesCredit, allowance, contact } = paying;
  const finished: FinishedRun = {
    runId: task.runId,
    agentId: task.listing.id,
    status: outcome.status,
    output: outcome.output,
    costLamports: charge?.priceLamports ?? 0n,
    durationMs: Math.round(performance.now() - startedAt),
  };
  try {
    if (charge) finished.costLamports = await charge.confirmed;
  } catch (error) {
    // The result is there and waits for its charge; a request for the run by its id or key gets it then.
    if (error instanceof ChargePendingError) await holdResult(deps, task, finished);
    throw error;
  }
  if (charge && finished.costLamports === 0n) {
    await Promise.all([deps.settlement.release(task.runId), allowance.release(task.runId)]);
  }
  if (usesCredit && !contact.isReached) await deps.settlement.returnCredit(task.runId);
  gate.open();
  await deps.runs.finish(finished, task.salt);
  gate.end();
  if (outcome.status === 'completed' && gate.text === '') gate.push(outputAsText(outcome.output));
  return finished;
}

/** Keeps a result for when its charge is confirmed. */
async function holdResult(deps: ReleaseDeps, task: Task, finished: FinishedRun): Promise<void> {
  await deps.runs.hold(finished, task.salt);
  // Confirmed while it was being written down: nobody else would notice.
  if (await deps.settlement.isConfirmed(finished.runId)) await deps.runs.finishHeld(finished.runId);
}
