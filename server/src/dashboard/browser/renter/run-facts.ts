import { formatSol, type EndedRun, type Receipt, type RunState } from '@agent-rental/contract';
import { boundedText, titleLine } from '../../words.js';
import { element, fact, momentOf } from '../elements.js';
import { endWords } from './run-steps.js';
import { secondsOf } from './runs.js';

const MOST_ERROR_CHARACTERS = 2_000;
const STOPPED = { cancelled: 'Cancelled by the wallet', caller_left: 'The caller went away' } as const;

/** The facts of a run, and the facts of its receipt once it has one. */
export function runFacts(state: RunState, receipt: Receipt | undefined): HTMLElement[] {
  const { agent_id: agent, api_key_label: key } = state;
  return [
    ...fact('Agent', element('a', { href: `/dashboard/listings/${agent}`, text: agent })),
    ...versionFact(receipt),
    ...(key === undefined
      ? []
      : fact('Started by your key or app', element('bdi', { text: titleLine(key) }))),
    ...(state.status === 'running' ? [] : endFacts(state)),
  ];
}

/** The facts of a run whose result was removed. */
export const receiptFacts = (receipt: Receipt): HTMLElement[] => [
  ...fact(
    'Agent',
    element('a', { href: `/dashboard/listings/${receipt.listing_id}`, text: receipt.listing_id }),
  ),
  ...versionFact(receipt),
  ...fact('Started', momentOf(receipt.started_at)),
  ...fact('Ended', momentOf(receipt.finished_at)),
  ...fact('Cost', receipt.cost_lamports === 0 ? 'Nothing was charged' : formatSol(receipt.cost_lamports)),
];

const versionFact = (receipt: Receipt | undefined): HTMLElement[] =>
  receipt?.agent_version === undefined ? [] : fact('Version', String(receipt.agent_version));

function endFacts(state: EndedRun): HTMLElement[] {
  const { duration_ms: took, error, stop_reason: stopped, credited } = state;
  return [
    ...fact('Status', endWords(state)),
    ...fact('Cost', costWords(state)),
    ...fact('Took', secondsOf(took)),
    ...(stopped === undefined ? [] : fact('Stopped', STOPPED[stopped])),
    ...(credited === true ? fact('Credit', 'The next run of this agent is free') : []),
    ...(error === undefined
      ? []
      : fact('Error', element('bdi', { text: boundedText(error.message, MOST_ERROR_CHARACTERS) }))),
  ];
}

/** The cost of a run, and why a run without a result was charged. */
function costWords({ status, cost_lamports: cost, trial }: EndedRun): string {
  if (trial === true) return 'A free first run';
  if (cost === 0) return 'Nothing was charged';
  if (status === 'completed') return formatSol(cost);
  return `${formatSol(cost)}: the agent was already at work, so its price was charged`;
}
