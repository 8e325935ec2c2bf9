import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOutboundHttp, type OutboundHttp } from '../platform/outbound-http.js';
import type { ConnectedAgent } from '../registration/index.js';
import {
  publishedListing,
  readBody,
  startHttpStandIn,
  type HttpStandIn,
  type StandInListener,
} from '../testing/index.js';
import { AgentUnreachableError } from './agent-outcome.js';
import { createConnectedAgents, type ConnectedAgents } from './connected-agent.js';
import { parseTask, type Task } from './parse.js';

const SECRET = `whsec_${Buffer.alloc(24, 5).toString('base64')}`;
const OUTPUT_SCHEMA = { type: 'object', required: ['total'], properties: { total: { type: 'number' } } };

let server: HttpStandIn;
let serve: StandInListener;
let asked: string[];
let outbound: OutboundHttp;
let agents: ConnectedAgents;
let agent: ConnectedAgent;

beforeEach(async () => {
  asked = [];
  server = await startHttpStandIn((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    return serve(request, response);
  });
  outbound = createOutboundHttp(new Set([server.origin]));
  agents = createConnectedAgents(outbound);
  agent = { mode: 'connected', entrypointUrl: `${server.origin}/run`, webhookSecret: SECRET, salt: '' };
});
afterEach(async () => {
  await outbound.close();
  await server.close();
});

const newTask = (
  input?: { items: string[] },
  outputSchema: Record<string, unknown> = OUTPUT_SCHEMA,
): Task => {
  const listing = publishedListing({ outputSchema, timeoutSeconds: 30 });
  return parseTask(
    'wallet',
    { agent_id: listing.id, task: 'Add up.', ...(input ? { input } : {}) },
    undefined,
    listing,
  );
};
const never = new AbortController().signal;
const answer = (status: number, body: string, headers: Record<string, string> = {}) => {
  serve = (_, response) => void response.writeHead(status, headers).end(body);
};
const FAILED = { status: 'failed', output: expect.any(String) as string };

describe('a call to a connected agent', () => {
  it('is signed as Standard Webhooks are, and carries the task [EXE-31]', async () => {
    let seen: { request: IncomingMessage; body: string } | undefined;
    serve = async (request, response) => {
      seen = { request, body: await readBody(request) };
      response.end('{"total":3}');
    };
    const task = newTask({ items: ['ü'] });
    expect(await agents.run(task, agent, never)).toEqual({ status: 'completed', output: { total: 3 } });
    const headers = seen?.request.headers as Record<string, string>;
    const body = seen?.body ?? '';
    expect(asked).toEqual(['POST /run']);
    expect(headers['content-type']).toBe('application/json');
    expect(headers['webhook-id']).toBe(task.runId);
    expect(new Webhook(SECRET).verify(body, headers)).toEqual({
      run_id: task.runId,
      agent_id: task.listing.id,
      task: 'Add up.',
      input: { items: ['ü'] },
      timeout_seconds: 30,
    });
    expect(() => new Webhook(SECRET).verify(body.replace('Add', 'Sum'), headers)).toThrow();
    const other = `whsec_${Buffer.alloc(24, 6).toString('base64')}`;
    expect(() => new Webhook(other).verify(body, headers)).toThrow();
    expect(JSON.stringify(headers) + body).not.toContain(SECRET.slice('whsec_'.length));
    expect(JSON.stringify(headers) + body).not.toContain('wallet');
  });

  it.each([
    ['breaks its schema', '{"total":"three"}'],
    ['is not JSON', 'total: 3'],
    ['is empty', ''],
    ['is cut off', '{"total":'],
  ])('whose answer %s is a failed run [EXE-32]', async (_, body) => {
    answer(200, body);
    expect(await agents.run(newTask(), agent, never)).toEqual(FAILED);
  });

  it('whose answer is nested deeper than we can store is a failed run', async () => {
    const depth = 20_000;
    answer(200, `{"total":1,"more":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    expect((await agents.run(newTask(), agent, never)).status).toBe('failed');
  });

  it('whose answer is nested deeper than its own schema can follow is a failed run', async () => {
    answer(200, '['.repeat(100_000) + ']'.repeat(100_000));
    const schema = { type: 'array', items: { $ref: '#' } };
    expect(await agents.run(newTask(undefined, schema), agent, never)).toEqual(FAILED);
  });

  it.each([400, 401, 422, 500])(
    'answered by %i is a failed run, which tells the renter nothing of it',
    async (status) => {
      answer(status, 'Traceback: secret path /srv/agent.py');
      const outcome = await agents.run(newTask(), agent, never);
      expect(outcome).toEqual(FAILED);
      expect(JSON.stringify(outcome)).not.toMatch(/Traceback|srv|127\.0\.0\.1/);
    },
  );

  it.each([404, 410, 502, 503, 504])('answered by %i never reached the agent', async (status) => {
    answer(status, 'nobody here');
    await expect(agents.run(newTask(), agent, never)).rejects.toThrow(AgentUnreachableError);
  });

  it('to a port where nobody listens never reached the agent', async () => {
    const gone = await startHttpStandIn(() => undefined);
    await gone.close();
    const open = createOutboundHttp(new Set([gone.origin]));
    const call = createConnectedAgents(open).run(newTask(), { ...agent, entrypointUrl: gone.origin }, never);
    await expect(call).rejects.toThrow(AgentUnreachableError);
    await open.close();
  });

  it('that is hung up on never reached the agent', async () => {
    serve = (request) => void request.socket.destroy();
    await expect(agents.run(newTask(), agent, never)).rejects.toThrow(AgentUnreachableError);
  });

  it('to an address that may not be called any more never reached the agent [EXE-37]', async () => {
    for (const entrypointUrl of [
      'https://169.254.169.254/run',
      'https://localhost/run',
      'http://example.com/',
    ]) {
      await expect(agents.run(newTask(), { ...agent, entrypointUrl }, never)).rejects.toThrow(
        AgentUnreachableError,
      );
    }
    expect(asked).toEqual([]);
  });

  it.each([301, 302, 307, 308])('is not redirected by %i [EXE-37]', async (status) => {
    answer(status, '', { location: `${server.origin}/secret` });
    expect(await agents.run(newTask(), agent, never)).toEqual(FAILED);
    expect(asked).toEqual(['POST /run']);
  });

  it('whose answer is too large, or has no end, is a failed run, and hung up on', async () => {
    let closed: Promise<unknown> | undefined;
    serve = (_, response) => {
      closed = once(response, 'close');
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    };
    expect(await agents.run(newTask(), agent, never)).toEqual(FAILED);
    await closed;
  });

  it('whose answer breaks off is a failed run', async () => {
    serve = (request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"total"', () => request.socket.destroy());
    };
    expect(await agents.run(newTask(), agent, never)).toEqual(FAILED);
  });

  it.each(['before', 'within'])('that is aborted %s its answer closes the connection', async (when) => {
    const controller = new AbortController();
    let closed: Promise<unknown> | undefined;
    const arrived = new Promise<ServerResponse>((resolve) => {
      serve = (_, response) => {
        closed = once(response, 'close');
        if (when === 'before') resolve(response);
        else response.write('{"total"', () => resolve(response));
      };
    });
    const call = agents.run(newTask(), agent, controller.signal).catch((error: unknown) => error);
    await arrived;
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await call).toBe(reason);
    await closed;
  });
});
