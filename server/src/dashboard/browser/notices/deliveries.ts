import type { WebhookAttempt, WebhookDelivery } from '@agent-rental/contract';
import { element, momentOf } from '../elements.js';
import { say, work, type Session } from '../wallets.js';

const STATUS_WORDS = { pending: 'Waiting', delivered: 'Delivered', failed: 'Failed' } as const;
/** Deliveries that a press shows. */
const SHOWN = 20;

/** An attempt in words: how it ended, and how long it took. */
export function attemptWords({ http_status, reason, duration_ms }: WebhookAttempt): string {
  const answer = http_status === undefined ? 'no answer' : `answer ${http_status}`;
  return `${answer}${reason === undefined ? '' : `, ${reason}`}, after ${duration_ms} ms`;
}

/** Shows the newest deliveries of a webhook in a place, and sends one again. Gives the words for the status. */
export async function showDeliveries(
  root: HTMLElement,
  session: Session,
  { id, place }: { id: string; place: HTMLElement },
): Promise<string> {
  const { deliveries } = await session.client.listDeliveries(id, { limit: SHOWN });
  place.replaceChildren(
    element(
      'ul',
      { class: 'lines' },
      ...deliveries.map((delivery) => line(root, session, { id, place, delivery })),
    ),
  );
  if (deliveries.length === 0) return 'This webhook has no deliveries yet.';
  return `${deliveries.length === 1 ? '1 delivery' : `${deliveries.length} deliveries`} shown.`;
}

function line(
  root: HTMLElement,
  session: Session,
  { id, place, delivery }: { id: string; place: HTMLElement; delivery: WebhookDelivery },
): HTMLElement {
  const { event_id, name, created_at, status, attempts, next_attempt_at } = delivery;
  const again = element('button', {
    text: 'Send again',
    class: 'plain',
    onClick: () =>
      work(root, 'The event was not sent again.', async () => {
        await session.client.redeliver(id, event_id);
        await showDeliveries(root, session, { id, place });
        say(root, 'The event is sent again.');
      }),
  });
  again.setAttribute('aria-label', `Send again: ${name} of ${momentOf(created_at)}`);
  const next = next_attempt_at === undefined ? '' : ` Next attempt: ${momentOf(next_attempt_at)}.`;
  return element(
    'li',
    {},
    element('p', { text: `${name}, ${momentOf(created_at)}: ${STATUS_WORDS[status]}.${next}` }),
    element(
      'ul',
      { class: 'soft' },
      ...attempts.map((attempt) =>
        element('li', { text: `${momentOf(attempt.at)}: ${attemptWords(attempt)}` }),
      ),
    ),
    again,
  );
}
