import { SandboxUnavailableError } from '@agent-rental/sandbox';
import type { Allowance } from '../../spending/index.js';
import { ApiError, internalError } from '../../errors/api-error.js';
import type { Logger } from '../../platform/logger.js';
import { ChargePendingError, type SentCharge, type Settlement } from '../../settlement/index.js';
import { AgentUnreachableError, isOfSandbox, type FailureCause } from '../agents/outcome.js';
import { RunStoppedError } from '../live/run-stopped.js';
import type { Task } from '../task.js';
import type { RunChanges } from '../live/run-changes.js';
import type { RunRepository } from '../history/repository.js';
import type { Slots } from '../queue/slots.js';

/** The parts that compensating uses. */
export interface CompensateDeps {
  settlement: Pick<Settlement, 'credit' | 'releaseReservation' | 'returnCredit'>;
  runs: Pick<RunRepository, 'markUndelivered' | 'discard' | 'freeKey'>;
  changes: Pick<RunChanges, 'announce'>;
  slots: Pick<Slots, 'free'>;
}

type Log = Pick<Logger, 'info' | 'warn'>;

/**
 * Compensates for a run that could not be served: credits its charge, or releases its reservation. Returns
 * the error for its caller.
 */
export async function compensate(
  deps: CompensateDeps,
  task: Task,
  { allowance, logger }: { allowance: Allowance; logger: Log },
  { sent, ...output }: { sent: SentCharge | undefined; outputHasLeft: boolean },
  error: unknown,
): Promise<ApiError> {
  if (error instanceof ChargePendingError) return error;
  const charge = (await sent?.written) ? sent : undefined;
  const answer = toAnswer(logger, task, charge, error);
  const failure = failureOf(error);
  // A run whose sandbox failed is made good also where a part of its output has left.
  const outputHasLeft = output.outputHasLeft && !isOfSandbox(error);
  if (charge) {
    // The run is marked first: should this process end now, the credit follows when the charge is reconciled.
    await deps.runs.markUndelivered(task.runId, answer, { outputHasLeft, failure });
    charge.confirmed
      .then(() => deps.settlement.credit(task.runId))
      .then(() => deps.runs.freeKey(task.runId))
      .then((isFreed) => (isFreed ? deps.changes.announce(task.runId) : undefined))
      .catch((err: unknown) =>
        logger.info({ err, run_id: task.runId }, 'a credit is left to reconciliation'),
      );
  } else {
    // Rows that refer to the run are deleted before its row.
    await deps.slots.free(task.runId);
    await deps.settlement.releaseReservation(task.runId);
    await deps.settlement.returnCredit(task.runId);
    await allowance.releaseReservation(task.runId);
    // A run that its caller was told of is found by its id, and its creator sees why it failed.
    if (answer.runId === undefined) await deps.runs.discard(task.runId, answer, failure);
    else {
      await deps.runs.markUndelivered(task.runId, answer, { outputHasLeft, failure });
      if (await deps.runs.freeKey(task.runId)) await deps.changes.announce(task.runId);
    }
  }
  return answer;
}

/** Why it could not be served, as the creator of its agent is told. */
function failureOf(error: unknown): FailureCause {
  if (error instanceof AgentUnreachableError) return error.failure;
  if (error instanceof RunStoppedError) return { class: 'stopped' };
  const isRefusal = error instanceof ApiError && error.status < 500;
  return { class: isRefusal ? 'refused' : 'service_fault' };
}

/** The error for the caller of a run that could not be served. */
function toAnswer(logger: Log, task: Task, charge: SentCharge | undefined, error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (isOfSandbox(error)) {
    logger.warn({ run_id: task.runId, err: error }, 'the sandboxes failed a run');
    const isFull = error instanceof SandboxUnavailableError;
    const text = isFull
      ? 'There is no room for another run at the moment.'
      : 'The run broke off because of a fault of the service.';
    return new ApiError('service_unavailable', charge ? `${text} Your next run of it is free.` : text, {
      next: charge ? 'Try again.' : 'Nothing was charged; try again.',
      ...(isFull ? {} : { runId: task.runId }),
      retryAfterSeconds: isFull ? error.retryAfterSeconds : 1,
    });
  }
  if (error instanceof AgentUnreachableError) {
    logger.warn(
      { run_id: task.runId, agent_id: task.listing.id, err: error },
      'an agent could not be reached',
    );
    const credit = charge ? ' Your next run of it is free.' : '';
    return new ApiError('service_unavailable', `The agent cannot be reached at the moment.${credit}`, {
      next: 'Try again.',
      runId: task.runId,
      retryAfterSeconds: 10,
    });
  }
  return internalError(error);
}
