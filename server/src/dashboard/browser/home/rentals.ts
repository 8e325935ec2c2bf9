import { formatSol, RENTAL_TERMS, type CredentialPage, type Spending } from '@agent-rental/contract';
import { titleLine } from '../../words.js';
import { element, momentOf } from '../elements.js';
import { respondTo } from '../events.js';
import { find, say, work, type Session } from '../wallets.js';
import { forecastWords } from './forecast.js';

/** A rental as the list of them has it. */
export type Rental = CredentialPage['credentials'][number];

const PAGE_SIZE = 24;

/** Shows a wallet's rentals page by page, with their forecast and links to the next steps. */
export async function showRentals(root: HTMLElement, session: Session, lastWeek: Spending): Promise<void> {
  let cursor: string | undefined;
  const showNext = async () => {
    cursor = await showPage(root, session, cursor, lastWeek);
  };
  find(root, '#list').replaceChildren();
  await showNext();
  find(root, '#none').hidden = find(root, '#list').childElementCount > 0;
  respondTo(find(root, '#more'), 'click', () =>
    work(root, 'There are more rentals, which cannot be shown.', showNext),
  );
}

/** Adds a page to the list, and gives the cursor of the next one; undefined where there is none. */
async function showPage(
  root: HTMLElement,
  session: Session,
  cursor: string | undefined,
  lastWeek: Spending,
): Promise<string | undefined> {
  const query = {
    include: 'listing',
    limit: PAGE_SIZE,
    ...(cursor === undefined ? {} : { cursor }),
  } as const;
  const { credentials, total, next_cursor: next } = await session.client.listCredentials(query);
  const cards = credentials.map((rental) => cardOf(rental, lastWeek));
  find(root, '#list').append(...cards);
  find(root, '#more').hidden = next === undefined;
  if (cursor !== undefined) cards[0]?.querySelector('a')?.focus();
  say(root, total === 0 ? '' : `${total === 1 ? '1 rental' : `${total} rentals`}.`);
  return next;
}

function cardOf(rental: Rental, lastWeek: Spending): HTMLElement {
  const { listing_id: id, listing_title: title, rental_model: model, listing, update } = rental;
  const name = element('bdi', { text: titleLine(title) });
  const forecast = forecastWords(rental, lastWeek, new Date());
  const links = [
    element('a', { href: `/dashboard/listings/${id}#try`, text: 'Run' }),
    ...(RENTAL_TERMS[model].isPrepaid
      ? [element('a', { href: `/dashboard/rent/${id}`, text: 'Top up' })]
      : []),
    ...(RENTAL_TERMS[model].expires ? [element('a', { href: `/dashboard/rent/${id}`, text: 'Renew' })] : []),
    element('a', { href: `/dashboard/runs?agent_id=${id}`, text: 'Its runs' }),
  ];
  for (const link of links) link.setAttribute('aria-label', `${link.textContent}: ${id}`);
  return element(
    'li',
    { class: 'card' },
    element('h3', {}, element('a', { href: `/dashboard/listings/${id}` }, name)),
    element('p', { text: stateOf(rental) }),
    ...(forecast === undefined ? [] : [element('p', { text: forecast })]),
    ...(listing?.failing_since === undefined
      ? []
      : [
          element('p', {
            class: 'note',
            text: `Its own tests fail since ${momentOf(listing.failing_since)}.`,
          }),
        ]),
    ...(update === undefined
      ? []
      : [
          element('p', {
            class: 'note',
            text:
              `Version ${update.version} took the place of ${update.from_version}` +
              (update.kind === 'breaking'
                ? ': it may refuse inputs that the old one accepted.'
                : ', and accepts the same inputs.'),
          }),
        ]),
    element('p', { class: 'links' }, ...links),
    element('p', { class: 'soft', text: `Agent ${id}, rented ${momentOf(rental.purchased_at)}.` }),
  );
}

/** The state of a rental, its end, and its balance. */
export function stateOf({
  status,
  rental_model: model,
  expires_at: end,
  balance_lamports: balance,
  listing,
}: Rental): string {
  const price = listing?.price_lamports;
  if (status === 'suspended')
    return `Suspended by the operator.${balance === undefined ? '' : ` Take back ${formatSol(balance)}.`}`;
  switch (model) {
    case 'one_time':
      return status === 'active' ? 'Active, for good.' : 'It works no more.';
    case 'subscription': {
      const until = end === null ? '' : ` ${momentOf(end)}`;
      return status === 'active' ? `Active until${until}.` : `Expired${until}.`;
    }
    case 'per_query': {
      const left = `Balance ${formatSol(balance ?? 0)}`;
      const runs = price !== undefined && price > 0 ? Math.floor((balance ?? 0) / price) : undefined;
      const enough = runs === undefined ? '' : `, enough for ${runs === 1 ? '1 run' : `${runs} runs`}`;
      return status === 'low_balance' ? `${left}: too low, top it up.` : `${left}${enough}.`;
    }
    default:
      return model satisfies never;
  }
}
