import { createAgentHandler } from '@agent-rental/sdk/creator';
import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createModelGateway } from '../../model-gateway/index.js';
import { createOutboundHttp, type OutboundHttp } from '../../platform/outbound-http.js';
import type { AgentProbe, PrivatePart } from '../../registration/index.js';
import { readBody, startHttpStandIn, type HttpStandIn, type StandInListener } from '../../testing/index.js';
import { createAgentProbe } from './probe-agent.js';

const SECRET = `whsec_${Buffer.alloc(24, 5).toString('base64')}`;
const LISTING = 'agent-aaaaaa';

let server: HttpStandIn;
let serve: StandInListener;
let bodies: string[];
let outbound: OutboundHttp;
let probe: AgentProbe;
let stopping: AbortController;

beforeEach(async () => {
  bodies = [];
  stopping = new AbortController();
  server = await startHttpStandIn((request, response) => serve(request, response));
  outbound = createOutboundHttp(new Set([server.origin]));
  probe = createAgentProbe(
    { outbound, gateway: createModelGateway(outbound) },
    { stopping: stopping.signal, timeoutMs: 500 },
  );
});
afterEach(async () => {
  await outbound.close();
  await server.close();
});

const connected = (entrypointUrl = `${server.origin}/run`): PrivatePart => ({
  mode: 'connected',
  entrypointUrl,
  webhookSecret: SECRET,
  salt: '',
});
const declarative = (): PrivatePart => ({
  mode: 'declarative',
  systemPrompt: 'A long and costly prompt.',
  tools: [{ name: 'web_fetch', scope: 'read_only' }],
  model: {
    provider: 'self_hosted',
    model: 'm',
    endpointUrl: `${server.origin}/v1`,
    key: 'k',
    keyOrigin: server.origin,
  },
  salt: '',
});

/** Serves the agent of a creator who uses the sdk. */
function serveSdk(webhookSecret: string | undefined, run = () => 'worked'): void {
  const handle = createAgentHandler({ webhookSecret: () => webhookSecret, run, onError: () => undefined });
  serve = async (request, response) => {
    const body = await readBody(request);
    bodies.push(body);
    const headers = Object.entries(request.headers).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    const answer = await handle(new Request(`${server.origin}/run`, { method: 'POST', body, headers }));
    response.writeHead(answer.status).end(await answer.text());
  };
}
const answer = (status: number, body = '') => {
  serve = (_, response) => void response.writeHead(status, { location: '/elsewhere' }).end(body);
};

describe('the probe of a connected agent', () => {
  it('is a signed handshake, which the sdk answers without running the agent [REG-120]', async () => {
    const run = vi.fn(() => 'worked');
    serveSdk(SECRET, run);
    expect(await probe(connected(), LISTING)).toBe('reached');
    expect(JSON.parse(bodies[0] ?? '')).toEqual({
      type: 'handshake',
      agent_id: LISTING,
      challenge: expect.any(String) as string,
    });
    expect(run).not.toHaveBeenCalled();
  });

  it('finds a server that does not know the secret, or has none yet [REG-120]', async () => {
    serveSdk(`whsec_${Buffer.alloc(24, 6).toString('base64')}`);
    expect(await probe(connected(), LISTING)).toEqual({ reason: 'endpoint_signature', httpStatus: 401 });
    serveSdk(undefined);
    expect(await probe(connected(), LISTING)).toEqual({ reason: 'endpoint_refused', httpStatus: 503 });
  });

  it('is signed so that Standard Webhooks verify it', async () => {
    const verify = vi.fn(new Webhook(SECRET).verify.bind(new Webhook(SECRET)));
    serve = async (request, response) => {
      verify(await readBody(request), request.headers as Record<string, string>);
      response.end();
    };
    expect(await probe(connected(), LISTING)).toBe('reached');
    expect(verify).toHaveReturned();
  });

  it.each([
    [200, 'reached'],
    [400, 'reached'],
    [500, 'reached'],
    [302, { reason: 'endpoint_refused', httpStatus: 302 }],
    [403, { reason: 'endpoint_signature', httpStatus: 403 }],
    [404, { reason: 'endpoint_refused', httpStatus: 404 }],
    [405, { reason: 'endpoint_refused', httpStatus: 405 }],
    [502, { reason: 'endpoint_refused', httpStatus: 502 }],
  ])('takes %i for %j', async (status, outcome) => {
    answer(status, 'not known');
    expect(await probe(connected(), LISTING)).toEqual(outcome);
  });

  it('calls no address that is not public, and tells no address of the network [REG-120]', async () => {
    const { port } = server;
    await server.close();
    expect(await probe(connected(), LISTING)).toEqual({
      reason: 'endpoint_unreachable',
      detail: 'the connection failed (ECONNREFUSED)',
    });
    const hosts = ['https://localhost/', `https://127.0.0.1:${port}/`, 'https://169.254.169.254/'];
    for (const url of [...hosts, 'http://example.com/']) {
      const outcome = await probe(connected(url), LISTING);
      expect(outcome).toMatchObject({ reason: 'endpoint_unreachable', detail: expect.any(String) as string });
      expect(JSON.stringify(outcome)).not.toContain(SECRET);
    }
    server = await startHttpStandIn(() => undefined);
  });

  it('ends in time with one that does not answer, or that never ends [REG-120]', async () => {
    serve = () => undefined;
    expect(await probe(connected(), LISTING)).toMatchObject({ reason: 'timed_out' });
    serve = (_, response) => {
      response.writeHead(200);
      const flood = () => {
        while (response.write('x'.repeat(64 * 1024)));
      };
      response.on('drain', flood);
      flood();
    };
    const before = process.memoryUsage().arrayBuffers;
    // Its words do not matter, however many there are.
    expect(await probe(connected(), LISTING)).toBe('reached');
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * 1024 * 1024);
    serve = (_, response) => void response.writeHead(200).write('x');
    expect(await probe(connected(), LISTING)).toMatchObject({ reason: 'timed_out' });
  });

  it('of a dead endpoint holds no other one [REG-120]', async () => {
    const living = await startHttpStandIn((_, response) => void response.end());
    const both = createOutboundHttp(new Set([server.origin, living.origin]));
    const patient = createAgentProbe(
      { outbound: both, gateway: createModelGateway(both) },
      { stopping: stopping.signal, timeoutMs: 600_000 },
    );
    serve = () => undefined;
    const silent = Promise.allSettled(Array.from({ length: 50 }, () => patient(connected(), LISTING)));
    expect(await patient(connected(living.origin), LISTING)).toBe('reached');
    // They end with the server, to be made again.
    const reason = new Error('The server is stopping.');
    stopping.abort(reason);
    for (const one of await silent) expect(one).toEqual({ status: 'rejected', reason });
    await both.close();
    await living.close();
  });
});

describe('the probe of a declarative agent', () => {
  /** Answers a word, and then nothing for ever. */
  const begins = (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
    response.write(
      `data: ${JSON.stringify({ ...chunk, choices: [{ index: 0, delta: { content: 'Yes' }, finish_reason: null }] })}\n\n`,
    );
  };

  it('asks its model one short question, and leaves at the first word [REG-120]', async () => {
    let closed: Promise<unknown> | undefined;
    serve = async (request, response) => {
      bodies.push(await readBody(request));
      closed = new Promise((resolve) => response.once('close', resolve));
      begins(response);
    };
    expect(await probe(declarative(), LISTING)).toBe('reached');
    await closed;
    expect(bodies).toHaveLength(1);
    expect(bodies[0]).not.toContain('costly');
    expect(JSON.parse(bodies[0] ?? '')).not.toHaveProperty('tools');
  });

  it('tells a dead key from something that is no model, and ends in time with a silent one [REG-120]', async () => {
    answer(401, '{"error":{"message":"Incorrect API key provided: k"}}');
    const refused = await probe(declarative(), LISTING);
    expect(refused).toEqual({ reason: 'model_key_refused', httpStatus: 401 });
    answer(200, 'It works!');
    expect(await probe(declarative(), LISTING)).toEqual({ reason: 'model_unreachable' });
    serve = () => undefined;
    expect(await probe(declarative(), LISTING)).toMatchObject({ reason: 'timed_out' });
  });
});
