import { formatSol, type SpendingApproval } from '@agent-rental/contract';
import { titleLine } from '../../words.js';
import { element, momentOf } from '../elements.js';
import { find, type Session } from '../wallets.js';
import { stateOf, type Rental } from './rentals.js';

const DAY_MS = 86_400_000;
/** A rental is shown so long before its end, and so long after it. */
const ENDS_WITHIN_MS = 7 * DAY_MS;
const ENDED_WITHIN_MS = 30 * DAY_MS;
/** Rentals that are looked at, of each kind: the newest. */
const MOST_CURRENT = 100;
const MOST_ENDED = 24;

/** Shows what wants an answer of the wallet's owner: questions of its keys, and rentals to top up or to renew. */
export async function showWaiting(root: HTMLElement, { client }: Session): Promise<void> {
  const [{ approvals }, { credentials: current }, { credentials: ended }] = await Promise.all([
    client.listApprovals(),
    client.listCredentials({ status: 'current', limit: MOST_CURRENT, include: 'listing' }),
    client.listCredentials({ status: 'expired', limit: MOST_ENDED }),
  ]);
  const now = Date.now();
  // A rental that ended a moment ago is in both lists.
  const rentals = new Map([...current, ...ended].map((rental) => [rental.pda_address, rental]));
  const items = [
    ...approvals.map(questionItem),
    ...[...rentals.values()].flatMap((rental) => rentalItem(rental, now)),
  ];
  find(root, '#waiting').replaceChildren(...items);
  find(root, '#nothing-waits').hidden = items.length > 0;
}

function questionItem({ id, kind, lamports, listing_id, expires_at }: SpendingApproval): HTMLElement {
  const href = `/dashboard/approvals/${encodeURIComponent(id)}`;
  const what = kind === 'run' ? 'One run of' : 'Renting';
  return item(
    element('a', { href, text: `Answer: up to ${formatSol(lamports)}` }),
    `${what} ${listing_id}, until ${momentOf(expires_at)}.`,
  );
}

/** The line of a rental that is too low, ended a while ago, or ends soon. */
function rentalItem(rental: Rental, now: number): HTMLElement[] {
  const { listing_id: id, listing_title: title, status, expires_at: end } = rental;
  const isLow = status === 'low_balance';
  const leftMs = end === null ? undefined : Date.parse(end) - now;
  const isNear = leftMs !== undefined && leftMs < ENDS_WITHIN_MS && leftMs > -ENDED_WITHIN_MS;
  if (!isLow && !isNear) return [];
  const name = element('bdi', { text: titleLine(title) });
  const link = element('a', { href: `/dashboard/rent/${id}`, text: isLow ? 'Top up ' : 'Renew ' }, name);
  const words =
    isLow || end === null ? stateOf(rental) : `${status === 'active' ? 'Ends' : 'Ended'} ${momentOf(end)}.`;
  return [item(link, words)];
}

const item = (link: HTMLElement, words: string): HTMLElement =>
  element('li', {}, link, document.createTextNode('. '), element('span', { text: words }));
