import {
  createStandIn,
  hangingAgent,
  openCuttingProxy,
  type Cut,
  type StandIn,
} from '@agent-rental/stand-in';
import { randomBytes } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RentalMcpHandlerOptions } from './http-handler.js';
import { MCP_CLIENTS } from '../testing/mcp-clients.js';
import { memoryBus } from '../testing/memory-bus.js';
import { connect, HEADERS, message, OPENING, post, serve } from '../testing/opened.js';
import { serveMcp } from '../testing/serve-mcp.js';

const isCall = (body: unknown) => typeof body === 'string' && body.includes('"tools/call"');

/** Two replicas over one marketplace, and a `fetch` that sends tool calls to the one and all else to the other. */
async function twoReplicas(standIn: StandIn, options: RentalMcpHandlerOptions = {}) {
  const shared = { ...options, secret: randomBytes(32), bus: memoryBus() };
  const [calls, rest] = [await serve(standIn, shared), await serve(standIn, shared)];
  const routed: typeof fetch = (_url, init) => fetch(isCall(init?.body) ? calls.url : rest.url, init);
  return { calls, rest, server: { url: rest.url, fetch: routed } };
}

/** Clients of the eras in which one call has several HTTP requests. */
const LEGACY = ['SDK v1 (2025-11-25)', 'SDK v2 as in 2025'];

describe.each(LEGACY)('several replicas with %s', (name) => {
  it('cancel a call that runs on another [RUN-11]', async () => {
    const agent = hangingAgent();
    const { server } = await twoReplicas(createStandIn([{ id: 'slow-aaaaaa', run: agent.run }]));
    const client = await connect(name, server);
    const controller = new AbortController();
    const calling = client.callTool('slow_aaaaaa', { task: 't' }, { signal: controller.signal });
    await agent.started;
    controller.abort(new Error('enough'));
    await expect(calling).rejects.toThrow(/enough|aborted/);
    await agent.aborted;
  });

  it('put a question to the client, whose answer arrives at another', async () => {
    const { server } = await twoReplicas(createStandIn(), {
      extend: (rental) =>
        rental.setRequestHandler('tools/call', async (_request, context) => {
          const message = 'Rent it?';
          const answer = await context.mcpReq.elicitInput({
            message,
            requestedSchema: { type: 'object', properties: { yes: { type: 'boolean' } } },
          });
          return { content: [{ type: 'text', text: JSON.stringify(answer.content) }] };
        }),
    });
    const client = await connect(name, server);
    client.answerQuestions(() => ({ action: 'accept', content: { yes: true } }));
    expect((await client.callTool('any', {})).content).toEqual([{ type: 'text', text: '{"yes":true}' }]);
  });
});

describe('a session', () => {
  const open = async (url: URL): Promise<string> => {
    const response = await post(url, message('initialize', OPENING, 1));
    await response.text();
    return response.headers.get('mcp-session-id') ?? '';
  };
  const list = async (url: URL, session: string): Promise<number> => {
    const response = await post(url, message('tools/list', {}, 2), { 'mcp-session-id': session });
    await response.text();
    return response.status;
  };

  it('survives a restart', async () => {
    const secret = randomBytes(32);
    const before = await serveMcp(createStandIn(), { secret });
    const session = await open(before.url);
    await before.close();
    const after = await serve(createStandIn(), { secret });
    expect(await list(after.url, session)).toBe(200);
  });

  it('ends on every replica when its client ends it', async () => {
    const { calls, rest } = await twoReplicas(createStandIn());
    const [session, other] = [await open(calls.url), await open(calls.url)];
    const end = { method: 'DELETE', headers: { ...HEADERS, 'mcp-session-id': session } };
    expect((await fetch(calls.url, end)).status).toBe(204);
    expect(await list(rest.url, session)).toBe(404);
    expect(await list(rest.url, other)).toBe(200);
  });

  it('tells nothing about another caller’s client', async () => {
    const { url } = await serve(createStandIn());
    const session = await open(url);
    const changed = session.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
    for (const other of [`${session}x`, changed]) expect(await list(url, other)).toBe(200);
  });
});

describe.each(Object.keys(MCP_CLIENTS))('a connection that breaks, with %s', (name) => {
  const call = { task: 't' };

  /** Breaks each connection of a call at this place. */
  async function through(cut: Cut) {
    let finish = (): void => undefined;
    const gate = new Promise<void>((resolve) => (finish = resolve));
    let runs = 0;
    const standIn = createStandIn([
      {
        id: 'slow-aaaaaa',
        run: async function* () {
          runs += 1;
          const run = runs;
          yield 'started';
          await gate;
          return { output: `answer ${run}` };
        },
      },
    ]);
    const shared = { secret: randomBytes(32) };
    const [first, second] = [await serve(standIn, shared), await serve(standIn, shared)];
    const proxy = await openCuttingProxy(first.url.origin, ({ body }) => (isCall(body) ? cut : undefined));
    onTestFinished(proxy.close);
    // A repeated request arrives at another replica.
    const routed: typeof fetch = (_url, init) => {
      const again = init?.method === 'GET' && new Headers(init.headers).has('last-event-id');
      return fetch(again ? second.url : `${proxy.baseUrl}/mcp`, init);
    };
    const client = await connect(name, { url: new URL(`${proxy.baseUrl}/mcp`), fetch: routed });
    return { client, standIn, proxy, finish };
  }

  it('while the agent works: the client still gets its answer, paid once [ADP-9]', async () => {
    const { client, standIn, proxy, finish } = await through('begin');
    const calling = client.callTool('slow_aaaaaa', call);
    while (proxy.cuts === 0) await new Promise((resolve) => setImmediate(resolve));
    finish();
    expect((await calling).content[0]?.text).toBe('answer 1');
    expect(standIn.charged).toBe(2_000_000);
  });

  it('on the answer itself: the same, and an equal call gets that answer; another run is paid with new_run [ADP-9]', async () => {
    const { client, standIn, proxy, finish } = await through('end');
    finish();
    for (const [args, answer, charged] of [
      [call, 'answer 1', 2_000_000],
      [call, 'answer 1', 2_000_000],
      [{ ...call, new_run: true }, 'answer 2', 4_000_000],
    ] as const) {
      expect((await client.callTool('slow_aaaaaa', args)).content[0]?.text).toBe(answer);
      expect(standIn.charged).toBe(charged);
    }
    expect(proxy.cuts).toBe(3);
  });
});
