import { EMAIL_EVENTS } from '@agent-rental/contract';
import type { EmailSettings } from '@agent-rental/contract';
import { momentOf } from '../elements.js';
import { respondTo } from '../events.js';
import { findForm } from '../fields.js';
import { find, findInput, say, work, type Session } from '../wallets.js';
import { chooseEvents, chosenEvents } from './chosen-events.js';

/** Shows the e-mail address of a wallet, and changes it. */
export async function showEmail(root: HTMLElement, { client }: Session): Promise<void> {
  const form = findForm(root, '#email-form');
  const field = findInput(root, '#email-address');
  show(root, await client.getEmail());
  respondTo(form, 'submit', () =>
    work(root, 'The address was not saved.', async () => {
      const events = chosenEvents(form);
      const saved = await client.setEmail({
        address: field.value.trim(),
        ...(isDefault(events) ? {} : { events }),
      });
      show(root, saved);
      say(root, saved.confirmed ? 'The choice of events is saved.' : 'A message was sent. Open its link.');
    }),
  );
  respondTo(find(root, '#email-remove'), 'click', () =>
    work(root, 'The address was not removed.', async () => {
      if (!confirm('Remove the e-mail address? No more messages will come.')) return;
      show(root, await client.deleteEmail());
      say(root, 'The address is removed.');
    }),
  );
}

/** A form without a check, or with the usual ones, keeps the usual events. */
const isDefault = (names: readonly string[]) =>
  names.length === 0 ||
  (names.length === EMAIL_EVENTS.length && EMAIL_EVENTS.every((name) => names.includes(name)));

function show(
  root: HTMLElement,
  { configured, address, confirmed, refused_at: refusedAt, events = EMAIL_EVENTS }: EmailSettings,
): void {
  find(root, '#no-email').hidden = configured;
  find(root, '#email-in').hidden = !configured && address === undefined;
  find(root, '#email-state').textContent =
    address === undefined
      ? 'You have set no address.'
      : confirmed
        ? `${address} hears of your events.`
        : refusedAt !== undefined
          ? `The mail server refused ${address} at ${momentOf(refusedAt)}. No more messages go there. Save again to confirm it anew.`
          : `${address} waits for its confirmation: open the link in the message. Save again to get another one.`;
  findInput(root, '#email-address').value = address ?? '';
  find(root, '#email-remove').hidden = address === undefined;
  chooseEvents(findForm(root, '#email-form'), events);
}
