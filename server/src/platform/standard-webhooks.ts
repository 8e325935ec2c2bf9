import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** A secret in the form of Standard Webhooks. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`;
}

/** The headers of a body that is sent now, as Standard Webhooks has them: with a signature by each secret. */
export function signedHeaders(id: string, body: string, secrets: readonly string[]): Record<string, string> {
  const sentAt = new Date();
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(id, sentAt, body)).join(' '),
  };
}
