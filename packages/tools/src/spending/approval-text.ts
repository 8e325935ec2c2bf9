import { creatorLine, quoteCreator } from '../text/creator-text.js';
import { lamportsText } from '../text/lamports-text.js';
import type { SpendingRequest } from './policy.js';

const TITLE_LENGTH = 80;
const AGENT_ID_LENGTH = 64;

/**
 * What a person is asked before something is spent, for every place that asks. The amounts come first; what the agent's
 * creator wrote comes last, on a line of its own, in quotation marks that it cannot close.
 */
export function approvalText({ kind, agentId, title, lamports, maxRunLamports }: SpendingRequest): string {
  const id = creatorLine(agentId, AGENT_ID_LENGTH);
  const lines =
    kind === 'rental'
      ? [
          `Pay up to ${lamportsText(lamports)} out of the wallet, fees included?`,
          ...(maxRunLamports === undefined
            ? []
            : [`Each run may then take up to ${lamportsText(maxRunLamports)} of what is prepaid.`]),
          `It rents the agent ${id}.`,
        ]
      : [
          `Spend up to ${lamportsText(lamports)} of what is prepaid for an agent?`,
          `It is one run of the agent ${id}.`,
        ];
  return [...lines, `The agent's creator calls it: ${quoteCreator(title, TITLE_LENGTH)}`].join('\n');
}
