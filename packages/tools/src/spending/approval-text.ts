import { creatorLine, quoteCreator } from '../text/creator-text.js';
import { lamportsText } from '../text/lamports-text.js';
import type { SpendingRequest } from './policy.js';

const TITLE_LENGTH = 80;
const AGENT_ID_LENGTH = 64;

/**
 * The question to a person before a spend. The amounts come first. The creator's words come last, on a separate line, in
 * quotation marks that they cannot close.
 */
export function approvalText({ kind, agentId, title, lamports, maxRunLamports }: SpendingRequest): string {
  const id = creatorLine(agentId, AGENT_ID_LENGTH);
  const lines =
    kind === 'rental'
      ? [
          `Pay up to ${lamportsText(lamports)} out of the wallet, fees included?`,
          ...(maxRunLamports === undefined
            ? []
            : [`Each run may then take up to ${lamportsText(maxRunLamports)} from the prepaid balance.`]),
          `It rents the agent ${id}.`,
        ]
      : [
          `Spend up to ${lamportsText(lamports)} from the prepaid balance for an agent?`,
          `It is one run of the agent ${id}.`,
        ];
  return [...lines, `The agent's creator calls it: ${quoteCreator(title, TITLE_LENGTH)}`].join('\n');
}
