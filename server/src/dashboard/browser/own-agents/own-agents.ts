import { formatSol } from '@agent-rental/contract';
import type { AgentsStats, ListingEarnings, OwnAgent } from '@agent-rental/contract';
import { withdraw } from '@agent-rental/sdk/solana';
import { logIn } from '../session/log-in.js';
import { find, say, work, type Session } from '../wallets.js';
import { showAgentsCharts } from './agent-charts.js';
import { agentProblems, amountsOf, priceWords, weekWords } from './agent-words.js';
import { buttonOf, element, facts, words } from '../markup.js';
import { announced } from '../signing.js';
import { offerMore } from './offer-more.js';

/** The most that one request lists: agents with a problem are first among so many. */
const PAGE = 100;
const TITLE_CHARACTERS = 120;

/** Shows the agents of a wallet of this browser with their earnings, and withdraws these. */
export function showOwnAgents(root: HTMLElement): void {
  logIn(root, {
    failed: 'You are not logged in.',
    onSession: async (session) => {
      find(root, '#logged-in').hidden = true;
      find(root, '#agents').replaceChildren();
      const [lastWeek] = await Promise.all([
        session.client.getAgentsStats({ window: '7d' }),
        session.client
          .getAgentsStats({ window: '30d' })
          .then((month) => showAgentsCharts(find(root, '#charts'), month)),
        showEarnings(root, session),
      ]);
      await showAgents(root, session, lastWeek);
      find(root, '#logged-in').hidden = false;
      say(root, `Logged in as ${session.signer.address}.`);
    },
  });
}

/** Adds a page of agents to the list, those with a problem first. */
async function showAgents(
  root: HTMLElement,
  session: Session,
  lastWeek: AgentsStats,
  cursor?: string,
): Promise<void> {
  const page = await session.client.listAgents({ limit: PAGE, ...(cursor && { cursor }) });
  const agents = page.agents
    .map((agent) => ({ agent, problems: agentProblems(agent) }))
    .toSorted((one, other) => Number(other.problems.length > 0) - Number(one.problems.length > 0));
  find(root, '#agents').append(...agents.map(({ agent, problems }) => agentCard(agent, problems, lastWeek)));
  find(root, '#no-agents').hidden = page.total > 0;
  offerMore(root, '#more-agents', page.next_cursor, (next) => showAgents(root, session, lastWeek, next));
}

function agentCard(agent: OwnAgent, problems: readonly string[], { agents }: AgentsStats): HTMLElement {
  const { listing_id: id, title, status, version } = agent;
  const link = element('a', { href: `/dashboard/creator/agents/${id}` }, words(title, TITLE_CHARACTERS));
  const price = priceWords(agent);
  const isDraft = status === 'draft';
  const counts = agents.find(({ listing_id: of }) => of === id);
  const shown = element('a', { href: `/dashboard/listings/${id}`, 'aria-label': `As renters see it: ${id}` });
  shown.append('As renters see it');
  return element(
    'li',
    { class: 'card' },
    element('h3', {}, link),
    ...problems.map((problem) => element('p', { class: 'note' }, problem)),
    ...(isDraft ? [] : [element('p', {}, `Last 7 days: ${weekWords(counts)}`)]),
    element('p', {}, `${isDraft ? 'not published' : status}, version ${version}`),
    ...(price === undefined ? [] : [element('p', {}, price)]),
    element('p', { class: 'soft' }, element('code', {}, id)),
    ...(isDraft ? [] : [element('p', { class: 'links' }, shown)]),
  );
}

/** Shows the first page of earnings in place of the old list, or adds the page at a cursor. */
async function showEarnings(root: HTMLElement, session: Session, cursor?: string): Promise<void> {
  const page = await session.client.getEarnings({ limit: PAGE, ...(cursor && { cursor }) });
  find(root, '#earned').replaceChildren(...facts(amountsOf(page.sum)));
  const list = find(root, '#earnings');
  if (cursor === undefined) list.replaceChildren();
  list.append(...page.earnings.map((earned) => earningsCard(root, session, earned)));
  offerMore(root, '#more-earnings', page.next_cursor, (next) => showEarnings(root, session, next));
}

function earningsCard(root: HTMLElement, session: Session, earned: ListingEarnings): HTMLElement {
  const { listing_id: id, title, withdrawable_lamports: lamports } = earned;
  const take = buttonOf(`Withdraw ${formatSol(lamports)}`, () =>
    work(root, 'Nothing was withdrawn.', async () => {
      const what = `it withdraws ${formatSol(lamports)} of ${id} to your wallet.`;
      // Withdraws the shown amount: later earnings stay for the next time.
      const terms = { amount_lamports: lamports };
      await withdraw(session.client, session.signer, id, terms, announced(root, session, what));
      await showEarnings(root, session);
      say(root, `Withdrew ${formatSol(lamports)} of ${id} to ${session.signer.address}.`);
    }),
  );
  take.setAttribute('aria-label', `Withdraw ${formatSol(lamports)} of ${id}`);
  return element(
    'li',
    { class: 'card' },
    element('h3', {}, words(title, TITLE_CHARACTERS)),
    element('p', {}, element('code', {}, id)),
    element('dl', { class: 'facts' }, ...facts(amountsOf(earned))),
    ...(lamports > 0 ? [take] : []),
  );
}
