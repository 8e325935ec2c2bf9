import { formatSol } from '@agent-rental/contract';
import type { Earnings, ListingEarnings, OwnAgent } from '@agent-rental/contract';
import { withdraw } from '@agent-rental/sdk/solana';
import { logIn } from '../session/log-in.js';
import { find, say, work, type Session } from '../wallets.js';
import { agentProblems, priceWords } from './agent-words.js';
import { buttonOf, element, facts, words } from '../markup.js';
import { respondTo } from '../events.js';
import { announced } from '../signing.js';
import type { ElementSelector } from '../../element-ids.js';

const PAGE = 50;
const TITLE_CHARACTERS = 120;

/** Shows the agents of a wallet of this browser with their earnings, and withdraws these. */
export function showOwnAgents(root: HTMLElement): void {
  logIn(root, {
    failed: 'You are not logged in.',
    onSession: async (session) => {
      find(root, '#logged-in').hidden = true;
      find(root, '#agents').replaceChildren();
      await showAgents(root, session);
      await showEarnings(root, session);
      find(root, '#logged-in').hidden = false;
      say(root, `Logged in as ${session.signer.address}.`);
    },
  });
}

async function showAgents(root: HTMLElement, session: Session, cursor?: string): Promise<void> {
  const page = await session.client.listAgents({ limit: PAGE, ...(cursor && { cursor }) });
  find(root, '#agents').append(...page.agents.map(agentCard));
  find(root, '#no-agents').hidden = page.total > 0;
  offerMore(root, '#more-agents', page.next_cursor, (next) => showAgents(root, session, next));
}

function agentCard(agent: OwnAgent): HTMLElement {
  const { listing_id: id, title, status, version } = agent;
  const link = element('a', { href: `/dashboard/creator/agents/${id}` }, words(title, TITLE_CHARACTERS));
  const price = priceWords(agent);
  return element(
    'li',
    { class: 'card' },
    element('h3', {}, link),
    element('p', {}, element('code', {}, id)),
    element('p', {}, `${status === 'draft' ? 'not published' : status}, version ${version}`),
    ...(price === undefined ? [] : [element('p', {}, price)]),
    ...agentProblems(agent).map((problem) => element('p', { class: 'note' }, problem)),
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

function amountsOf({
  earned_lamports: earned,
  withdrawable_lamports: withdrawable,
  pending_lamports: pending,
}: Earnings['sum']): [string, string][] {
  return [
    ['Ever earned', formatSol(earned)],
    ['To withdraw', formatSol(withdrawable)],
    ['Pending', formatSol(pending)],
  ];
}

function offerMore(
  root: HTMLElement,
  selector: ElementSelector,
  cursor: string | undefined,
  show: (cursor: string) => Promise<void>,
): void {
  const button = find(root, selector);
  button.hidden = cursor === undefined;
  respondTo(button, 'click', () => {
    if (cursor !== undefined) work(root, 'There is no more to show.', () => show(cursor));
  });
}
