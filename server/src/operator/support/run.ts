import type { Db } from '../../database/connection.js';
import { recordAction } from '../../moderation/index.js';
import { createCredits, type CreditRefusal } from '../../settlement/index.js';
import { OperatorError } from '../operator-error.js';
import { systemUser } from '../system-user.js';
import { asText } from './as-text.js';
import type { SupportCommand } from './parse.js';
import { readListing } from './read-listing.js';
import { isRunId, readRuns } from './read-run.js';
import { readWallet } from './read-wallet.js';

/** Why an operator's credit is not given, in words. */
const REFUSALS: Record<CreditRefusal, string> = {
  not_found: 'There is no such run.',
  under_way: 'The run goes on: a credit is for one that has ended.',
  not_per_task: 'Runs of this listing are not paid one by one: a free run is worth nothing there.',
  trial: 'It was a free first run: its wallet has paid for nothing.',
  given: 'A free run was given for it already: the command run shows it.',
  too_many: 'Operators have given the most credits of a day: wait, or look into their reason first.',
};

/** Runs a command of support; returns the text to print. @throws OperatorError when it cannot be done */
export async function runSupportCommand(db: Db, command: SupportCommand): Promise<string> {
  if (command.name === 'credit') {
    const { runId, reason, json } = command;
    if (!isRunId(runId)) throw new OperatorError(REFUSALS.not_found);
    await db.transaction().execute(async (tx) => {
      const refusal = await createCredits(tx).giveByOperator(runId, reason);
      if (refusal !== undefined) throw new OperatorError(REFUSALS[refusal]);
      await recordAction(tx, { action: 'credit', subject: runId, reason, operator: systemUser() });
    });
    if (json) return asJson(await readRuns(db, runId));
    return `The wallet of run ${runId} has a free run of its agent: its next run there is charged nothing.`;
  }
  const { name, id, json } = command;
  switch (name) {
    case 'run': {
      const found = await readRuns(db, id);
      return json ? asJson(found) : found.runs.map((run) => asText(run)).join('\n\n');
    }
    case 'wallet': {
      const found = await readWallet(db, id);
      return json ? asJson(found) : asText(found);
    }
    case 'listing': {
      const found = await readListing(db, id);
      return json ? asJson(found) : asText(found);
    }
    default:
      return name satisfies never;
  }
}

const asJson = (value: object): string => JSON.stringify(value, null, 2);
