import { AgentCard, TaskState, type Message, type Part } from '@a2a-js/sdk';
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
  type AgentExecutor,
  type ExecutionEventBus,
} from '@a2a-js/sdk/server';
import { parseLegacyAgentCard } from '@a2a-js/sdk/compat/v0_3/client';
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOutboundHttp, type OutboundHttp } from '../../../platform/outbound-http.js';
import type { ConnectedAgent } from '../../../registration/index.js';
import {
  loginOf,
  publishedListing,
  readBody,
  startHttpStandIn,
  type HttpStandIn,
} from '../../../testing/index.js';
import { parseOrder } from '../../pipeline/order.js';
import { taskOf } from '../../pipeline/parse.js';
import { AgentContact } from '../contact.js';
import { AgentUnreachableError } from '../outcome.js';
import { createConnectedAgents, type ConnectedAgents } from './connected-agent.js';

const SECRET = `whsec_${Buffer.alloc(24, 5).toString('base64')}`;
const DATA = { total: 3 };

let server: HttpStandIn;
let outbound: OutboundHttp;
let agents: ConnectedAgents;
let agent: ConnectedAgent;
let cardOf: (origin: string) => object;
let streams: boolean;
/** Methods that were called, and the texts of messages. */
let asked: string[];
let cancelled: { promise: Promise<void>; resolve: () => void };

const part = (content: Part['content']): Part => ({
  content,
  metadata: undefined,
  filename: '',
  mediaType: '',
});
const text = (value: string) => part({ $case: 'text', value });

/** An agent of the SDK, which does as the text of a message says. */
const executor: AgentExecutor = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const asked = userMessage.parts.map(({ content }) => content?.value as unknown);
    const tell = (state: TaskState, message?: Message) => {
      const status = { state, message, timestamp: undefined };
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status, metadata: undefined }));
    };
    const give = (artifactParts: Part[], append = false) => {
      const artifact = {
        artifactId: 'a',
        name: '',
        description: '',
        parts: artifactParts,
        metadata: undefined,
        extensions: [],
      };
      bus.publish(
        AgentEvent.artifactUpdate({
          taskId,
          contextId,
          artifact,
          append,
          lastChunk: false,
          metadata: undefined,
        }),
      );
    };
    const status = { state: TaskState.TASK_STATE_WORKING, message: undefined, timestamp: undefined };
    bus.publish(
      AgentEvent.task({ id: taskId, contextId, status, artifacts: [], history: [], metadata: undefined }),
    );
    if (asked[0] === 'hold') {
      give([text('I work')]);
      return cancelled.promise;
    }
    if (asked[0] === 'fail') return end(bus, () => tell(TaskState.TASK_STATE_FAILED));
    if (asked[0] === 'ask') return end(bus, () => tell(TaskState.TASK_STATE_INPUT_REQUIRED));
    if (asked[0] === 'data') give([part({ $case: 'data', value: asked[1] ?? DATA })]);
    else {
      give([text('Hello')]);
      give([text(' world')], true);
    }
    end(bus, () => tell(TaskState.TASK_STATE_COMPLETED));
  },
  async cancelTask() {
    cancelled.resolve();
  },
};

function end(bus: ExecutionEventBus, tell: () => void): void {
  tell();
  bus.finished();
}

beforeEach(async () => {
  streams = true;
  let resolve = (): void => undefined;
  cancelled = { promise: new Promise<void>((done) => (resolve = done)), resolve: () => resolve() };
  asked = [];
  cardOf = (origin) => ({
    name: 'Agent',
    description: 'An agent.',
    version: '1',
    supportedInterfaces: [{ url: `${origin}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: { streaming: streams },
  });
  const store = new InMemoryTaskStore();
  let handler: JsonRpcTransportHandler | LegacyJsonRpcTransportHandler | undefined;
  server = await startHttpStandIn(async (request, response) => {
    const card = cardOf(server.origin);
    if (request.method === 'GET') {
      response.end(JSON.stringify(card));
      return;
    }
    const body = await readBody(request);
    if (request.headers['webhook-id'] !== undefined)
      new Webhook(SECRET).verify(body, request.headers as Record<string, string>);
    asked.push((JSON.parse(body) as { method: string }).method);
    const [read, Handler] =
      'url' in card
        ? [parseLegacyAgentCard(card), LegacyJsonRpcTransportHandler]
        : [AgentCard.fromJSON(card), JsonRpcTransportHandler];
    handler ??= new Handler(new DefaultRequestHandler(read, store, executor));
    const context = new ServerCallContext({
      requestedVersion: String(request.headers['a2a-version'] ?? '0.3'),
    });
    // As a client asks that does not wait.
    const sent = body.includes('"later"')
      ? body
          .replace('"returnImmediately":false', '"returnImmediately":true')
          .replace('"blocking":true', '"blocking":false')
      : body;
    const answer = await handler.handle(sent, context);
    if (!(Symbol.asyncIterator in answer)) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for await (const event of answer) response.write(`data: ${JSON.stringify(event)}\n\n`);
    response.end();
  });
  outbound = createOutboundHttp(new Set([server.origin]));
  agents = createConnectedAgents(outbound);
  const entrypointUrl = `${server.origin}/.well-known/agent-card.json`;
  agent = { mode: 'connected', entrypointUrl, webhookSecret: SECRET, salt: '' };
});
afterEach(async () => {
  await outbound.close();
  await server.close();
});

/** Runs a task; gives its outcome and the text that came before. */
async function run(
  task: string,
  outputSchema: Record<string, unknown> = { type: 'string' },
  {
    input,
    signal = new AbortController().signal,
    onText,
  }: { input?: object; signal?: AbortSignal; onText?: () => void } = {},
) {
  const listing = publishedListing({ outputSchema, timeoutSeconds: 30 });
  const body = { agent_id: listing.id, task, ...(input && { input: input as Record<string, never> }) };
  const work = taskOf(parseOrder(loginOf('wallet'), body, undefined), body, listing);
  const texts: string[] = [];
  const contact = new AgentContact();
  const outcome = await agents.run(work, agent, {
    signal,
    contact,
    onText: (delta) => {
      texts.push(delta);
      onText?.();
    },
  });
  return { outcome, texts, isReached: contact.isReached };
}

/** A card of 0.3. */
const legacyCard = (origin: string) => ({
  name: 'Agent',
  description: 'An agent.',
  version: '1',
  protocolVersion: '0.3.0',
  url: `${origin}/rpc`,
  preferredTransport: 'JSONRPC',
  capabilities: { streaming: streams },
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [],
});

describe.each([
  ['1.0', true, 'SendStreamingMessage'],
  ['1.0', false, 'SendMessage'],
  ['0.3', true, 'message/stream'],
  ['0.3', false, 'message/send'],
] as const)('an agent of A2A %s that streams: %s', (version, isStreaming, method) => {
  beforeEach(() => {
    streams = isStreaming;
    if (version === '0.3') cardOf = legacyCard;
  });

  it('gets the task, signed, and gives its text', async () => {
    const { outcome, texts, isReached } = await run('greet');
    expect(outcome).toEqual({ status: 'completed', output: 'Hello world' });
    expect(texts.join('')).toBe('Hello world');
    expect(texts).toHaveLength(isStreaming ? 2 : 1);
    expect(isReached).toBe(true);
    expect(asked).toEqual([method]);
  });

  it('gets the input as data, and gives data that its schema describes', async () => {
    const { outcome } = await run('data', { type: 'object', required: ['total'] }, { input: { total: 7 } });
    expect(outcome).toEqual({ status: 'completed', output: { total: 7 } });
    expect((await run('data', { type: 'object', required: ['sum'] })).outcome).toMatchObject({
      status: 'failed',
      cause: { class: 'output_schema' },
    });
  });

  it.each(['fail', 'ask'])('that ends in the state of "%s" fails', async (task) => {
    const { outcome } = await run(task);
    expect(outcome).toMatchObject({ status: 'failed', cause: { class: 'task_failed' } });
  });
});

it.each([
  ['1.0', ['SendMessage', 'GetTask']],
  ['0.3', ['message/send', 'tasks/get']],
])(
  'an agent of A2A %s that answers before its task has ended is asked for the end',
  async (version, methods) => {
    streams = false;
    if (version === '0.3') cardOf = legacyCard;
    const { outcome } = await run('later');
    expect(outcome).toEqual({ status: 'completed', output: 'Hello world' });
    expect(asked).toEqual(methods);
  },
);

it.each([
  ['1.0', ['SendStreamingMessage', 'CancelTask']],
  ['0.3', ['message/stream', 'tasks/cancel']],
])('an aborted run cancels the task of its agent of A2A %s', async (version, methods) => {
  if (version === '0.3') cardOf = legacyCard;
  const leaving = new AbortController();
  const onText = () => leaving.abort(new Error('left'));
  await expect(run('hold', undefined, { signal: leaving.signal, onText })).rejects.toThrow('left');
  await cancelled.promise;
  expect(asked).toEqual(methods);
});

it.each([
  ['is none', () => ({ name: 'Agent' }), /no card/],
  ['speaks an older version', (origin: string) => interfaceAt(origin, '0.2'), /no JSON-RPC interface/],
  ['is a broken one of 0.3', () => ({ protocolVersion: '0.3.0', url: 7 }), /no card/],
  ['names another origin', () => interfaceAt('https://elsewhere.example', '1.0'), /its own origin/],
])('an agent whose card %s is not reached, and nothing is sent', async (_, card, reason) => {
  cardOf = card;
  const failure = run('greet');
  await expect(failure).rejects.toThrow(AgentUnreachableError);
  await expect(failure).rejects.toThrow(reason);
  expect(asked).toEqual([]);
});

function interfaceAt(origin: string, protocolVersion: string): object {
  return { supportedInterfaces: [{ url: `${origin}/rpc`, protocolBinding: 'JSONRPC', protocolVersion }] };
}
