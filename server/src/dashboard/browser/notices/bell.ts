import { shownEvents } from '../../words.js';
import type { Session } from '../wallets.js';
import { readSeen } from './seen-events.js';

/** The most events that are counted; more are "99+". */
const MOST = 100;

/** Shows the number of events since the last visit of their page. Without an answer the bell is there without a number. */
export function showBell({ client, signer }: Session): void {
  const bell = document.getElementById('bell');
  if (bell === null) return;
  bell.hidden = false;
  const show = async () => {
    const after = readSeen(signer.address);
    const { events } = await client.listEvents({
      limit: MOST,
      types: shownEvents().join(','),
      ...(after === undefined ? {} : { after }),
    });
    showCount(bell, events.length);
  };
  show().catch(() => undefined);
}

/** Shows a number of new events beside the bell. */
export function showCount(bell: HTMLElement, count: number): void {
  const number = bell.querySelector('.count');
  if (number) number.textContent = count === 0 ? '' : count < MOST ? String(count) : `${MOST - 1}+`;
  bell.setAttribute('aria-label', count === 0 ? 'Events' : `Events, ${number?.textContent} new`);
}
