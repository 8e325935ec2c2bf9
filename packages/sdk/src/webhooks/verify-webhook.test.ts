import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { verifyWebhook } from './verify-webhook.js';

const key = randomBytes(32);
const secret = `whsec_${key.toString('base64')}`;
const event = {
  id: randomUUID(),
  name: 'run.completed',
  subject: 'run:1',
  sequence: 1,
  created_at: new Date().toISOString(),
  data: { status: 'completed' },
};
const body = JSON.stringify(event);
/** Signs by the algorithm of the specification, without the library. */
function signed(text: string, { id = event.id, ageSeconds = 0, by = key } = {}) {
  const timestamp = String(Math.floor(Date.now() / 1000) - ageSeconds);
  const signature = createHmac('sha256', by).update(`${id}.${timestamp}.${text}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}

describe('verifyWebhook', () => {
  it('reads a signed event, from headers of fetch and of Node', () => {
    expect(verifyWebhook(body, signed(body), secret)).toEqual(event);
    expect(verifyWebhook(body, new Headers(signed(body)), secret)).toEqual(event);
  });

  it('accepts one of two signatures, while a secret is replaced', () => {
    const other = signed(body, { by: randomBytes(32) })['webhook-signature'];
    const both = { ...signed(body), 'webhook-signature': `${other} ${signed(body)['webhook-signature']}` };
    expect(verifyWebhook(body, both, secret)).toEqual(event);
  });

  it.each([
    ['another secret', body, signed(body, { by: randomBytes(32) })],
    ['another body', body.replace('completed', 'failed'), signed(body)],
    ['another id', body, { ...signed(body), 'webhook-id': randomUUID() }],
    ['a signed id that is not of the event', body, signed(body, { id: randomUUID() })],
    ['an old time', body, signed(body, { ageSeconds: 400 })],
    ['no headers', body, {}],
    ['a signed body that is no event', '{}', signed('{}')],
  ])('refuses %s', (_, text, headers) => {
    expect(() => verifyWebhook(text, headers, secret)).toThrow();
  });
});
