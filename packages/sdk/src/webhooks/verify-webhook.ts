import { walletEvent, type WalletEvent } from '@agent-rental/contract';
import { Webhook } from 'standardwebhooks';

/** The three headers of a delivery, as `Headers` or as Node has them. */
export type WebhookHeaders = Pick<Headers, 'get'> | Record<string, string | string[] | undefined>;

const NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/**
 * The event of a delivery, when `secret` (`whsec_…`) signed it within 5 minutes. `body` is the text as it came, not parsed.
 * Deliveries may repeat and overtake each other: `id` is the same each time, `sequence` orders them by subject.
 * Throws `WebhookVerificationError` for a wrong or old signature, and an `Error` for a signed body that is no event.
 */
export function verifyWebhook(body: string, headers: WebhookHeaders, secret: string): WalletEvent {
  const read = (name: string): string => {
    const value = isHeaders(headers) ? headers.get(name) : headers[name];
    return typeof value === 'string' ? value : '';
  };
  new Webhook(secret).verify(body, Object.fromEntries(NAMES.map((name) => [name, read(name)])));
  const event = walletEvent.parse(JSON.parse(body));
  if (event.id !== read('webhook-id')) throw new Error('The signed id is not the id of the event.');
  return event as WalletEvent;
}

function isHeaders(headers: WebhookHeaders): headers is Pick<Headers, 'get'> {
  return typeof headers.get === 'function';
}
