import type { Webhook } from '@agent-rental/contract';
import { element, momentOf } from '../elements.js';
import { respondTo } from '../events.js';
import { findForm } from '../fields.js';
import { find, findInput, say, work, type Session } from '../wallets.js';
import { chooseEvents, chosenEvents } from './chosen-events.js';
import { attemptWords, showDeliveries } from './deliveries.js';

/** Lists the webhooks of a wallet, and adds one. A secret is shown once. */
export async function showWebhooks(root: HTMLElement, session: Session): Promise<void> {
  const form = findForm(root, '#webhook-form');
  const field = findInput(root, '#webhook-url');
  respondTo(form, 'submit', () =>
    work(root, 'No webhook was added.', async () => {
      const events = chosenEvents(form);
      const { secret } = await session.client.createWebhook({
        url: field.value.trim(),
        ...(events.length === 0 ? {} : { events }),
      });
      showSecret(root, secret);
      field.value = '';
      chooseEvents(form, []);
      await list(root, session);
      say(root, 'The webhook was added. Copy its secret now: it is not shown again.');
    }),
  );
  await list(root, session);
}

async function list(root: HTMLElement, session: Session): Promise<void> {
  const { webhooks } = await session.client.listWebhooks();
  find(root, '#webhook-list').replaceChildren(...webhooks.map((webhook) => card(root, session, webhook)));
  find(root, '#no-webhooks').hidden = webhooks.length > 0;
}

function showSecret(root: HTMLElement, secret: string): void {
  const shown = find(root, '#webhook-secret');
  shown.textContent = secret;
  find(root, '#secret-part').hidden = false;
  respondTo(find(root, '#copy-secret'), 'click', () =>
    work(root, 'The secret was not copied: select it, and copy it by hand.', async () => {
      await navigator.clipboard.writeText(secret);
      say(root, 'The secret is copied.');
    }),
  );
  shown.focus();
}

function card(root: HTMLElement, session: Session, webhook: Webhook): HTMLElement {
  const { client } = session;
  const { id, url = 'Callbacks of runs', paused_at: pausedAt } = webhook;
  const deliveries = element('div', {});
  /** A button that acts, and then shows the words of its action. */
  const button = (text: string, failed: string, act: () => Promise<string | undefined>, danger = false) => {
    const made = element('button', {
      text,
      class: danger ? 'plain danger' : 'plain',
      onClick: () =>
        work(root, failed, async () => {
          const told = await act();
          if (told !== undefined) say(root, told);
        }),
    });
    made.setAttribute('aria-label', `${text}: ${url}`);
    return made;
  };
  const change = (act: () => Promise<unknown>, told: string) => async () => {
    await act();
    await list(root, session);
    return told;
  };
  return element(
    'li',
    { class: 'card' },
    element('h3', { class: 'words', text: url }),
    element('p', { text: wordsOf(webhook) }),
    element(
      'p',
      { class: 'row' },
      ...(webhook.url === undefined
        ? []
        : [
            button(
              'Test now',
              'The webhook was not tested.',
              async () => `The test: ${attemptWords(await client.testWebhook(id))}.`,
            ),
            pausedAt === undefined
              ? button(
                  'Pause',
                  'The webhook was not paused.',
                  change(() => client.updateWebhook(id, { paused: true }), 'The webhook is paused.'),
                )
              : button(
                  'Resume',
                  'The webhook was not resumed.',
                  change(() => client.updateWebhook(id, { paused: false }), 'The webhook goes on.'),
                ),
          ]),
      button('New secret', 'The secret was not replaced.', async () => {
        if (!confirm('Make a new secret? The present one signs for 24 hours more.')) return undefined;
        const { secret } = await client.rotateWebhook(id);
        showSecret(root, secret);
        return 'The webhook has a new secret. Copy it now: it is not shown again.';
      }),
      button('Deliveries', 'The deliveries cannot be shown.', () =>
        showDeliveries(root, session, { id, place: deliveries }),
      ),
      button(
        'Remove',
        'The webhook was not removed.',
        async () => {
          if (!confirm(`Remove the webhook ${url}? It hears of nothing more.`)) return undefined;
          await client.deleteWebhook(id);
          await list(root, session);
          return 'The webhook is removed.';
        },
        true,
      ),
    ),
    deliveries,
  );
}

function wordsOf({ events, created_at, failing_since, paused_at }: Webhook): string {
  return [
    `${events === undefined ? 'All events' : events.join(', ')}, since ${momentOf(created_at)}.`,
    ...(failing_since === undefined ? [] : [`It fails since ${momentOf(failing_since)}.`]),
    ...(paused_at === undefined ? [] : [`It is paused since ${momentOf(paused_at)}.`]),
  ].join(' ');
}
