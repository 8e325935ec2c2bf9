import { eventPage, eventWords } from '@agent-rental/contract';
import type { WalletEvent } from '@agent-rental/contract';
import { EVENT_KINDS, shownEvents, titleLine } from '../../words.js';
import { element, momentOf } from '../elements.js';
import { respondTo } from '../events.js';
import { findSelect } from '../fields.js';
import { logIn } from '../session/log-in.js';
import { find, say, work, type Session } from '../wallets.js';
import { showCount } from './bell.js';
import { showEmail } from './email-settings.js';
import { keepSeen } from './seen-events.js';
import { showWebhooks } from './webhooks.js';

/** Events that one press shows. */
const PAGE_SIZE = 24;

type Listed = Pick<WalletEvent, 'name' | 'created_at'> & { data: Record<string, unknown> };

/** Shows the events of a wallet, the newest first, and the ways in which it hears of them. */
export function showEvents(root: HTMLElement): void {
  logIn(root, {
    failed: 'Your events cannot be shown.',
    onSession: async (session) => {
      await markSeen(session);
      await showFirst(root, session);
      const again = () => work(root, 'The events cannot be shown.', () => showFirst(root, session));
      respondTo(findSelect(root, '#event-kind'), 'change', again);
      await Promise.all([showEmail(root, session), showWebhooks(root, session)]);
      find(root, '#events-in').hidden = false;
    },
  });
}

/** The bell counts anew from the newest event on. */
async function markSeen({ client, signer }: Session): Promise<void> {
  const { cursor } = await client.listEvents({ order: 'newest', limit: 1 });
  if (cursor !== undefined) keepSeen(signer.address, cursor);
  const bell = document.getElementById('bell');
  if (bell) showCount(bell, 0);
}

async function showFirst(root: HTMLElement, session: Session): Promise<void> {
  find(root, '#list').replaceChildren();
  await showMore(root, session, undefined);
}

async function showMore(root: HTMLElement, session: Session, before: string | undefined): Promise<void> {
  const kind = EVENT_KINDS.find((each) => each === findSelect(root, '#event-kind').value);
  const { events, cursor } = await session.client.listEvents({
    order: 'newest',
    limit: PAGE_SIZE,
    types: shownEvents(kind).join(','),
    ...(before === undefined ? {} : { before }),
  });
  const cards = (events as unknown as Listed[]).map(eventCard);
  find(root, '#list').append(...cards);
  if (before !== undefined) cards[0]?.querySelector('a')?.focus();
  const more = find(root, '#more');
  more.hidden = events.length < PAGE_SIZE;
  respondTo(more, 'click', () =>
    work(root, 'Earlier events cannot be shown.', () => showMore(root, session, cursor)),
  );
  const shown = find(root, '#list').childElementCount;
  find(root, '#none').hidden = shown > 0;
  say(root, shown === 0 ? '' : `${shown === 1 ? '1 event' : `${shown} events`} shown.`);
}

function eventCard(event: Listed): HTMLElement {
  const { listing_id: listing } = event.data;
  const text = eventWords(event, typeof listing === 'string' ? listing : undefined, titleLine);
  const href = eventPage(event);
  return element(
    'li',
    { class: 'card' },
    element('h3', {}, href === undefined ? element('span', { text }) : element('a', { href, text })),
    element('p', { class: 'soft', text: momentOf(event.created_at) }),
  );
}
