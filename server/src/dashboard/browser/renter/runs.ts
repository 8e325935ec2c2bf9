import { formatSol } from '@agent-rental/contract';
import type { RunSummary } from '@agent-rental/contract';
import type { RentalClient } from '@agent-rental/sdk';
import { RUN_STATUS_WORDS } from '../../words.js';
import { element, momentOf } from '../elements.js';
import { logIn } from '../session/log-in.js';
import { find, say, work, type Session } from '../wallets.js';

type RunPage = Awaited<ReturnType<RentalClient['listRuns']>>;

/** Runs that one press shows; they are read in pages of {@link READ_SIZE}. */
const PAGE_SIZE = 24;
const READ_SIZE = 100;
/** The service lists runs of every status: of a rare one, so many pages are read at a press. */
const MOST_READS = 10;

/** Shows the runs of a wallet, newest first, by the agent and the status that the page's address asks for. */
export function showRuns(root: HTMLElement): void {
  let showNext: (() => Promise<void>) | undefined;
  logIn(root, {
    failed: 'Your runs cannot be shown.',
    onSession: async (session) => {
      let cursor: string | undefined;
      showNext = async () => {
        cursor = await showMore(root, session, cursor);
      };
      find(root, '#list').replaceChildren();
      await showNext();
      find(root, '#none').hidden = find(root, '#list').childElementCount > 0;
      find(root, '#runs-in').hidden = false;
    },
  });
  find(root, '#more').addEventListener('click', () => {
    if (showNext) work(root, 'Earlier runs cannot be shown.', showNext);
  });
}

/** Adds runs to the list until a page is full, or enough was read; gives where it goes on, undefined at the end. */
async function showMore(
  root: HTMLElement,
  { client }: Session,
  from: string | undefined,
): Promise<string | undefined> {
  const { agent, status } = root.dataset;
  const { limit, mostReads } =
    status === undefined ? { limit: PAGE_SIZE, mostReads: 1 } : { limit: READ_SIZE, mostReads: MOST_READS };
  const found: RunSummary[] = [];
  let cursor = from;
  for (let reads = 0; reads < mostReads && found.length < PAGE_SIZE; reads += 1) {
    const page: RunPage = await client.listRuns({
      limit,
      ...(agent === undefined ? {} : { agent_id: agent }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    found.push(...page.runs.filter((run) => status === undefined || run.status === status));
    cursor = page.next_cursor;
    if (cursor === undefined) break;
  }
  const cards = found.map(runCard);
  find(root, '#list').append(...cards);
  if (from !== undefined) cards[0]?.querySelector('a')?.focus();
  find(root, '#more').hidden = cursor === undefined;
  const shown = find(root, '#list').childElementCount;
  say(root, shown === 0 ? '' : `${shown === 1 ? '1 run' : `${shown} runs`} shown.`);
  return cursor;
}

/** A run in a list. */
export function runCard(run: RunSummary): HTMLElement {
  const { run_id: id, agent_id: agent, status, cost_lamports: cost, duration_ms: took } = run;
  const facts = [
    RUN_STATUS_WORDS[status],
    cost === 0 ? 'no charge' : formatSol(cost),
    ...(took === null ? [] : [`took ${secondsOf(took)}`]),
  ];
  return element(
    'li',
    { class: 'card' },
    element(
      'h3',
      {},
      element(
        'a',
        { href: `/dashboard/runs/${id}`, text: `${agent}, ` },
        element('span', { class: 'whole', text: momentOf(run.created_at) }),
      ),
    ),
    element('p', { text: `${facts.join(', ')}.` }),
  );
}

/** A duration as a person reads it. */
export const secondsOf = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
