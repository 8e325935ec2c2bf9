import type { Db } from '../../database/connection.js';
import { recordAction, type Decider } from '../../moderation/index.js';
import { createCredits, type CreditRefusal } from '../../settlement/index.js';
import { OperatorError } from '../operator-error.js';
import { isRunId } from './read-run.js';

/** Why an operator's credit is not given, in words. */
const REFUSALS: Record<CreditRefusal, string> = {
  not_found: 'There is no such run.',
  under_way: 'The run goes on: a credit is for one that has ended.',
  not_per_task: 'Runs of this listing are not paid one by one: a free run is worth nothing there.',
  trial: 'It was a free first run: its wallet has paid for nothing.',
  given: 'A free run was given for it already: the command run shows it.',
  too_many: 'Operators have given the most credits of a day: wait, or look into their reason first.',
};

/** Gives the wallet of a run a free run of its agent, and puts that on record. @throws OperatorError with the reason */
export async function giveCredit(db: Db, runId: string, reason: string, by: Decider): Promise<void> {
  if (!isRunId(runId)) throw new OperatorError(REFUSALS.not_found);
  await db.transaction().execute(async (tx) => {
    const refusal = await createCredits(tx).giveByOperator(runId, reason);
    if (refusal !== undefined) throw new OperatorError(REFUSALS[refusal]);
    await recordAction(tx, { action: 'credit', subject: runId, reason, ...by });
  });
}
