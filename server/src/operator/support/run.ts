import type { Db } from '../../database/connection.js';
import { systemUser } from '../system-user.js';
import { asText } from './as-text.js';
import { giveCredit } from './give-credit.js';
import type { SupportCommand } from './parse.js';
import { readListing } from './read-listing.js';
import { readRuns } from './read-run.js';
import { readWallet } from './read-wallet.js';

/** Runs a command of support; returns the text to print. @throws OperatorError when it cannot be done */
export async function runSupportCommand(db: Db, command: SupportCommand): Promise<string> {
  if (command.name === 'credit') {
    const { runId, reason, json } = command;
    await giveCredit(db, runId, reason, { operator: systemUser() });
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
