import { createHmac } from 'node:crypto';

/** Headers that sign a webhook by Standard Webhooks; `secret` is `whsec_` and base64. */
export function webhookHeaders(secret: string, body: string, id = 'msg_1'): Record<string, string> {
  const timestamp = `${Math.floor(Date.now() / 1000)}`;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}
