import { Webhook } from 'standardwebhooks';
import { describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { createAgentHandler, type AgentHandlerOptions } from './agent-handler.js';

const SECRET = `whsec_${Buffer.alloc(24, 5).toString('base64')}`;
const JSON_SCHEMA = {
  type: 'object',
  properties: { total: { type: 'integer' } },
  required: ['total'],
  additionalProperties: false,
};

/** Sends bytes to a handler, like the marketplace. `signed` are the bytes under the signature. */
async function sendBytes(
  options: Partial<AgentHandlerOptions> & Pick<AgentHandlerOptions, 'run'>,
  sent: string,
  { signed = sent, sentAt = new Date() }: { signed?: string; sentAt?: Date } = {},
): Promise<{ status: number; text: string; errors: string[] }> {
  const errors: string[] = [];
  const handle = createAgentHandler({
    webhookSecret: SECRET,
    onError: (error) => errors.push(error instanceof Error ? error.message : String(error)),
    ...options,
  });
  const headers = {
    'webhook-id': 'run',
    'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
    'webhook-signature': new Webhook(SECRET).sign('run', sentAt, signed),
  };
  const request = new Request('https://agent.example.com/', { method: 'POST', body: sent, headers });
  const response = await handle(request);
  return { status: response.status, text: await response.text(), errors };
}

const TASK = { run_id: 'run', agent_id: 'agent', task: 'Add.', timeout_seconds: 60 };

/** Sends a signed task to a handler. */
const send = (
  options: Parameters<typeof sendBytes>[0],
  given: { input?: unknown; timeout_seconds?: number } = {},
  sentAt?: Date,
) => sendBytes(options, JSON.stringify({ ...TASK, ...given }), sentAt && { sentAt });

describe('the handler of an agent', () => {
  it('says without a signature that the agent is there [SDK-10]', async () => {
    const run = vi.fn(() => 'never');
    const handle = createAgentHandler({ webhookSecret: SECRET, run });
    const health = await handle(new Request('https://agent.example.com/'));
    expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
    const other = await handle(new Request('https://agent.example.com/', { method: 'PUT', body: '{}' }));
    expect(other.status).toBe(405);
    expect(run).not.toHaveBeenCalled();
  });

  it('answers a signed handshake without work [REG-120]', async () => {
    const run = vi.fn(() => 'never');
    const sent = JSON.stringify({ type: 'handshake', agent_id: 'agent', challenge: 'c' });
    expect(await sendBytes({ run }, sent)).toMatchObject({ status: 200, text: '{"challenge":"c"}' });
    expect(await sendBytes({ run }, sent, { signed: 'another text' })).toMatchObject({ status: 401 });
    expect(run).not.toHaveBeenCalled();
  });

  it('works for nothing but the bytes that were signed, lately [SDK-10]', async () => {
    const run = vi.fn(() => 'done');
    expect((await send({ run })).status).toBe(200);
    const changed = JSON.stringify({ ...TASK, task: 'Steal.' });
    expect((await sendBytes({ run }, changed, { signed: JSON.stringify(TASK) })).status).toBe(401);
    expect((await send({ run }, {}, new Date(Date.now() - 600_000))).status).toBe(401);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it('reads the secret at each task, and reports a missing one', async () => {
    const run = () => 'done';
    expect(await send({ run, webhookSecret: async () => SECRET })).toMatchObject({ status: 200 });
    const without = await send({ run, webhookSecret: () => undefined });
    expect(without.status).toBe(503);
    expect(without.errors[0]).toContain('no webhook secret');
  });

  it.each([
    ['JSON Schema', JSON_SCHEMA],
    ['zod', z.strictObject({ total: z.int() })],
  ])('checks input and output by %s, and tells its creator the faults [SDK-10]', async (_, schema) => {
    const run = vi.fn<AgentHandlerOptions['run']>(() => ({ total: 3 }));
    const both = { inputSchema: schema, outputSchema: schema };
    expect(await send({ run, ...both }, { input: { total: 1 } })).toMatchObject({
      status: 200,
      text: '{"total":3}',
    });

    const badInput = await send({ run, ...both }, { input: { total: 'one' } });
    expect(badInput).toMatchObject({ status: 500, text: '{"error":"The agent failed."}' });
    expect(badInput.errors[0]).toContain('input.total: ');
    expect(run).toHaveBeenCalledTimes(1);

    const badOutput = await send({ run: () => ({ total: 0.5 }), ...both }, { input: { total: 1 } });
    expect(badOutput.status).toBe(500);
    expect(badOutput.errors[0]).toContain('output.total: ');

    const streamed = await send(
      {
        run: async function* () {
          yield 'a';
          return { sum: 1 };
        },
        ...both,
      },
      { input: { total: 1 } },
    );
    expect(streamed.text).toContain('event: done\ndata: {"status":"failed"}');
    expect(streamed.errors[0]).toContain('output');
  });

  it('gives the agent the input as its schema converts it', async () => {
    const inputSchema = z.object({ total: z.int().default(7) });
    const answer = await send({ run: ({ input }) => input ?? null, inputSchema }, { input: {} });
    expect(answer.text).toBe('{"total":7}');
  });

  it('aborts the work at the task’s deadline [SDK-10]', async () => {
    const answer = await send(
      {
        run: (_, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error));
          }),
      },
      { timeout_seconds: 1 },
    );
    expect(answer.status).toBe(500);
    expect(answer.errors).toEqual(['The operation took too long.']);
  });
});
