import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AgentFunction } from './agent-task.js';
import { serveAgent, type ServedAgent } from './serve-agent.js';

const SECRET = `whsec_${Buffer.alloc(24, 5).toString('base64')}`;

let agent: ServedAgent;
let run: AgentFunction;
let errors: unknown[];
beforeEach(async () => {
  errors = [];
  agent = await serveAgent({
    port: 0,
    webhookSecret: SECRET,
    run: (task, context) => run(task, context),
    onError: (error) => errors.push(error),
  });
});
afterEach(() => agent.close());

/** Sends a task like the marketplace. */
function send(signal?: AbortSignal, secret = SECRET): Promise<Response> {
  const body = JSON.stringify({ run_id: 'run', agent_id: 'agent', task: 'Say it.', timeout_seconds: 60 });
  const sentAt = new Date();
  return fetch(agent.url, {
    method: 'POST',
    body,
    headers: {
      'webhook-id': 'run',
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('run', sentAt, body),
    },
    ...(signal ? { signal } : {}),
  });
}

describe('a served agent', () => {
  it('answers with its returned value, and only to signed requests', async () => {
    run = ({ task }) => ({ said: task });
    const answer = await send();
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(await answer.json()).toEqual({ said: 'Say it.' });
    expect((await send(undefined, `whsec_${Buffer.alloc(24, 6).toString('base64')}`)).status).toBe(401);
  });

  it('lets yielded values out while it works, and ends with its returned value', async () => {
    let goOn: () => void = () => undefined;
    const told = new Promise<void>((resolve) => (goOn = resolve));
    run = async function* () {
      yield 'a';
      await told;
      yield 'ü';
      return 'aü!';
    };
    const answer = await send();
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe('event: output\ndata: {"delta":"a"}\n\n');
    goOn();
    let rest = '';
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) break;
      rest += value;
    }
    expect(rest).toBe('event: output\ndata: {"delta":"ü"}\n\nevent: done\ndata: {"output":"aü!"}\n\n');
  });

  it('reports only the failure to the marketplace, and the reason to its creator', async () => {
    const broken = new Error('secret');
    run = async function* () {
      yield 'a';
      throw broken;
    };
    const text = await (await send()).text();
    expect(text).toContain('event: done\ndata: {"status":"failed"}\n\n');
    expect(text).not.toContain('secret');
    expect(errors).toEqual([broken]);
  });

  it('stops working when the client closes the connection', async () => {
    const controller = new AbortController();
    let ended = false;
    run = async function* () {
      try {
        for (;;) {
          yield 'x'.repeat(100_000);
          await new Promise((resolve) => setImmediate(resolve));
        }
      } finally {
        ended = true;
      }
    };
    const answer = await send(controller.signal);
    await answer.body?.getReader().read();
    controller.abort();
    await vi.waitUntil(() => ended, { timeout: 15_000 });
    expect(errors).toEqual([]);
  });
});
