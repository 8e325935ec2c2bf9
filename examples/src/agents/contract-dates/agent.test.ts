import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { webhookHeaders } from '../../testing/webhook-signature.js';
import { serveContractDates } from './agent.js';

const webhookSecret = `whsec_${randomBytes(24).toString('base64')}`;

let agent: Awaited<ReturnType<typeof serveContractDates>>;
beforeAll(async () => {
  agent = await serveContractDates({ port: 0, webhookSecret });
});
afterAll(() => agent.close());

function call(input: unknown, headers?: (body: string) => Record<string, string>): Promise<Response> {
  const task = { run_id: 'run_1', agent_id: 'contract-dates-aaaaaa', task: 'Read it.', timeout_seconds: 30 };
  const body = JSON.stringify({ ...task, input });
  return fetch(agent.url, { method: 'POST', headers: (headers ?? signed)(body), body });
}
const signed = (body: string) => webhookHeaders(webhookSecret, body);

describe('the connected agent', () => {
  it.each([{ text: 'The Supplier shall pay on 2025-01-31.' }, 'The Supplier shall pay on 2025-01-31.'])(
    'answers a signed task with the input %j',
    async (input) => {
      const response = await call(input);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({
        ok: true,
        dates: [{ iso: '2025-01-31' }],
        duties: [{ party: 'Supplier' }],
      });
    },
  );

  it('says what to send when there is no input', async () => {
    const response = await call(undefined);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      ok: false,
      summary: expect.stringContaining('Send the text'),
    });
  });

  it.each([
    ['no signature', () => ({})],
    [
      'another secret',
      (body: string) => webhookHeaders(`whsec_${Buffer.alloc(24).toString('base64')}`, body),
    ],
    ['a signature of another body', () => signed('{}')],
  ])('refuses a task with %s', async (_, headers) => {
    expect((await call('The Supplier shall pay.', headers)).status).toBe(401);
  });
});
