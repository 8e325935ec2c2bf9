import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOutboundHttp, type OutboundHttp } from '../../../platform/outbound-http.js';
import type { ConnectedAgent } from '../../../registration/index.js';
import {
  type HttpStandIn,
  type StandInListener,
  loginOf,
  publishedListing,
  readBody,
  startHttpStandIn,
} from '../../../testing/index.js';
import { AgentContact } from '../contact.js';
import { AgentUnreachableError } from '../outcome.js';
import { createConnectedAgents, type ConnectedAgents } from './connected-agent.js';
import { parseOrder } from '../../pipeline/order.js';
import { taskOf } from '../../pipeline/parse.js';
import type { Task } from '../../task.js';

const SECRET = `whsec_${Buffer.alloc(24, 5).toString('base64')}`;
const OUTPUT_SCHEMA = { type: 'object', required: ['total'], properties: { total: { type: 'number' } } };

let server: HttpStandIn;
let serve: StandInListener;
let asked: string[];
/** What left of the answers before they were whole. */
let texts: string[];
let outbound: OutboundHttp;
let agents: ConnectedAgents;
let agent: ConnectedAgent;

beforeEach(async () => {
  asked = [];
  texts = [];
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
  const body = { agent_id: listing.id, task: 'Add up.', ...(input ? { input } : {}) };
  return taskOf(parseOrder(loginOf('wallet'), body, undefined), body, listing);
};
const onText = (text: string) => void texts.push(text);
const options = { signal: new AbortController().signal, contact: new AgentContact(), onText };
beforeEach(() => void (options.contact = new AgentContact()));
const answer = (status: number, body: string | Buffer, headers: Record<string, string> = {}) => {
  serve = (_, response) => void response.writeHead(status, headers).end(body);
};
/** Answers without end; gives when the response is closed. */
const flood = (piece: string, type = 'application/json') =>
  new Promise<void>((resolve) => {
    serve = (_, response) => {
      response.once('close', () => resolve());
      response.writeHead(200, { 'content-type': type });
      const more = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more);
      more();
    };
  });
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const FAILED = { status: 'failed', output: expect.any(String) as string };

describe('a call to a connected agent', () => {
  it('is signed as Standard Webhooks are, and carries the task [EXE-31]', async () => {
    let seen: { request: IncomingMessage; body: string } | undefined;
    serve = async (request, response) => {
      seen = { request, body: await readBody(request) };
      response.end('{"total":3}');
    };
    const task = newTask({ items: ['ü'] });
    expect(await agents.run(task, agent, options)).toEqual({ status: 'completed', output: { total: 3 } });
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
    ['is nested deeper than we can store', `{"total":1,"more":${nested(20_000)}}`],
  ])('whose answer %s is a failed run [EXE-20]', async (_, body) => {
    answer(200, body);
    expect(await agents.run(newTask(), agent, options)).toMatchObject(FAILED);
  });

  it('whose answer is nested deeper than its own schema can follow is a failed run', async () => {
    answer(200, nested(100_000));
    const schema = { type: 'array', items: { $ref: '#' } };
    expect(await agents.run(newTask(undefined, schema), agent, options)).toMatchObject(FAILED);
  });

  it.each([400, 401, 422, 500])(
    'answered by %i is a failed run, which tells the renter nothing of it',
    async (status) => {
      answer(status, 'Traceback: secret path /srv/agent.py');
      const outcome = await agents.run(newTask(), agent, options);
      expect(outcome).toMatchObject(FAILED);
      expect(JSON.stringify(outcome)).not.toMatch(/Traceback|srv|127\.0\.0\.1/);
    },
  );

  it.each([404, 410, 502, 503, 504])(
    'answered by %i, as by a gateway, never reached the agent [MON-13]',
    async (status) => {
      answer(status, '{"total":3}');
      await expect(agents.run(newTask(), agent, options)).rejects.toThrow(AgentUnreachableError);
      expect([options.contact.isBegun, options.contact.isReached]).toEqual([true, false]);
    },
  );

  it.each([200, 422, 500])('answered by %i has reached the agent [MON-13]', async (status) => {
    answer(status, '{"total":3}');
    await agents.run(newTask(), agent, options);
    expect([options.contact.isBegun, options.contact.isReached]).toEqual([true, true]);
  });

  it('that has not refused the task within its time has accepted it: a later 503 is a failed run [MON-13]', async () => {
    const contact = new AgentContact();
    const patient = createConnectedAgents(outbound, 10);
    serve = (_, response) => void contact.reached.then(() => response.writeHead(503).end());
    expect(await patient.run(newTask(), agent, { ...options, contact })).toMatchObject(FAILED);
    const other = new AgentContact();
    serve = (request) => void other.reached.then(() => request.socket.destroy());
    expect(await patient.run(newTask(), agent, { ...options, contact: other })).toMatchObject(FAILED);
  });

  it('has not started without a connection [MON-13]', async () => {
    const gone = await startHttpStandIn(() => undefined);
    await gone.close();
    const open = createOutboundHttp(new Set([gone.origin]));
    const lost = { ...agent, entrypointUrl: gone.origin };
    await expect(createConnectedAgents(open, 0).run(newTask(), lost, options)).rejects.toThrow(
      AgentUnreachableError,
    );
    expect(options.contact.isBegun).toBe(false);
    await open.close();
  });

  it('that is hung up on never reached the agent', async () => {
    serve = (request) => void request.socket.destroy();
    await expect(agents.run(newTask(), agent, options)).rejects.toThrow(AgentUnreachableError);
  });

  it('to an address that may not be called any more never reached the agent [EXE-31]', async () => {
    for (const entrypointUrl of ['https://169.254.169.254/', 'https://localhost/', 'http://example.com/']) {
      const call = agents.run(newTask(), { ...agent, entrypointUrl }, options);
      await expect(call).rejects.toThrow(AgentUnreachableError);
    }
    expect(asked).toEqual([]);
  });

  it.each([301, 302, 307, 308])('is not redirected by %i [EXE-31]', async (status) => {
    answer(status, '', { location: `${server.origin}/secret` });
    expect(await agents.run(newTask(), agent, options)).toMatchObject(FAILED);
    expect(asked).toEqual(['POST /run']);
  });

  it('whose answer is too large, or has no end, is a failed run, and hung up on', async () => {
    const closed = flood(' '.repeat(65_536));
    expect(await agents.run(newTask(), agent, options)).toMatchObject(FAILED);
    await closed;
  });

  it('whose answer breaks off is a failed run', async () => {
    serve = (request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"total"', () => request.socket.destroy());
    };
    expect(await agents.run(newTask(), agent, options)).toMatchObject(FAILED);
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
    const call = agents
      .run(newTask(), agent, { ...options, signal: controller.signal })
      .catch((error: unknown) => error);
    await arrived;
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await call).toBe(reason);
    await closed;
  });
});

describe('an answer of an endpoint in the wild', () => {
  const TEXT = { type: 'string' };
  const bytes = (text: string, encoding?: BufferEncoding) => Buffer.from(text, encoding);
  const DONE = 'event: done\ndata: {"output":"Grüße"}\n\n';

  it.each<[string, string, Buffer, Record<string, unknown>, unknown]>([
    [
      'begins with a byte order mark',
      'application/json',
      bytes('\uFEFF{"total":3}'),
      OUTPUT_SCHEMA,
      { total: 3 },
    ],
    ['is in ISO-8859-1', 'application/json; charset=ISO-8859-1', bytes('"Grüße"', 'latin1'), TEXT, 'Grüße'],
    ['is in UTF-16', 'application/json;charset="utf-16le"', bytes('\uFEFF"Grüße"', 'utf16le'), TEXT, 'Grüße'],
    ['has an unknown charset', 'application/json; charset=none', bytes('"Grüße"'), TEXT, 'Grüße'],
    ['is a stream in ISO-8859-1', 'text/event-stream; charset=latin1', bytes(DONE, 'latin1'), TEXT, 'Grüße'],
    ['is a stream with a mark', 'text/event-stream', bytes(`\uFEFF${DONE}`), TEXT, 'Grüße'],
    ['is plain text', 'text/plain; charset=utf-8', bytes('Grüße'), TEXT, 'Grüße'],
    ['is plain text that reads as JSON', 'text/plain', bytes('42'), TEXT, '42'],
    ['is plain text for text or null', 'text/plain', bytes('Grüße'), { type: ['string', 'null'] }, 'Grüße'],
    ['is JSON under a careless type', 'text/plain', bytes('{"total":3}'), OUTPUT_SCHEMA, { total: 3 }],
    ['is a text in JSON under a careless type', 'text/plain', bytes('"Grüße"'), TEXT, 'Grüße'],
  ])('that %s is read', async (_, type, body, schema, output) => {
    answer(200, body, { 'content-type': type });
    expect(await agents.run(newTask(undefined, schema), agent, options)).toEqual({
      status: 'completed',
      output,
    });
  });

  it.each<[string, string, string]>([
    ['answer_not_json', 'application/json', '<html>'],
    ['answer_not_json', 'text/plain', 'Some words.'],
    ['answer_too_deep', 'application/json', nested(20_000)],
    ['answer_too_large', 'application/json', `"${'x'.repeat(1024 * 1024)}"`],
    ['answer_too_large', 'application/json', `[${'[],'.repeat(60_000)}[]]`],
    [
      'answer_too_large',
      'text/event-stream',
      `event: output\ndata: {"delta":"${'x'.repeat(1024 * 1024)}"}\n\n`,
    ],
    ['answer_number', 'application/json', '{"total":1917043659912705297}'],
    ['answer_number', 'text/event-stream', 'event: done\ndata: {"output":{"total":1e400}}\n\n'],
    ['answer_broke_off', 'text/event-stream', 'event: output\ndata: {"delta":"a"}\n\n'],
    ['stream_event', 'text/event-stream', 'event: output\ndata: {"delta":5}\n\n'],
    [
      'stream_output',
      'text/event-stream',
      'event: output\ndata: {"delta":"a"}\n\nevent: done\ndata: {"output":"b"}\n\n',
    ],
  ])('that breaks a rule names it for its creator: %s, %s', async (rule, type, body) => {
    answer(200, body, { 'content-type': type });
    const outcome = await agents.run(newTask(), agent, options);
    expect(outcome).toMatchObject({ ...FAILED, cause: { class: rule } });
  });
});

describe('an answer as an event stream', () => {
  const TEXT = { type: 'string' };
  const event = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  const stream = (...events: string[]) =>
    answer(200, events.join(''), { 'content-type': 'text/event-stream; charset=utf-8' });
  const run = (schema: Record<string, unknown> = TEXT) =>
    agents.run(newTask(undefined, schema), agent, options);

  it('is asked for beside JSON', async () => {
    let accept: string | undefined;
    serve = (request, response) => {
      accept = request.headers.accept;
      response.end('"plain"');
    };
    expect(await run()).toEqual({ status: 'completed', output: 'plain' });
    expect(accept).toBe('application/json, text/event-stream');
    expect(texts).toEqual([]);
  });

  it('lets text out while it comes, and is its pieces together [EXE-31]', async () => {
    let finish = () => undefined as unknown;
    serve = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': hello\n\n' + event('output', { delta: 'Grü' }));
      finish = () => response.end(event('other', {}) + event('output', { delta: 'ße' }) + event('done', {}));
    };
    const call = run();
    await expect.poll(() => texts).toEqual(['Grü']);
    finish();
    expect(await call).toEqual({ status: 'completed', output: 'Grüße' });
    expect(texts).toEqual(['Grü', 'ße']);
  });

  it.each(['\r', '\r\n', '\n'])(
    'may end its lines with %j, and is done at the last, also of an open stream',
    async (end) => {
      const lines = (event('output', { delta: 'a' }) + event('done', {})).replaceAll('\n', end);
      const pieces = [[lines], Array.from(lines)];
      for (const given of pieces) {
        serve = async (_, response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          for (const piece of given) await new Promise((sent) => response.write(piece, sent));
        };
        expect(await run()).toEqual({ status: 'completed', output: 'a' });
      }
    },
  );

  it('that breaks off in its last event is not done', async () => {
    stream(event('output', { delta: 'a' }), 'event: done\ndata: {}\r');
    await expect(run()).resolves.toMatchObject(FAILED);
  });

  it('may end with the output itself, which begins with the streamed text', async () => {
    stream(event('output', { delta: 'a' }), event('done', { output: 'ab', status: 'completed' }));
    expect(await run()).toEqual({ status: 'completed', output: 'ab' });
    stream(event('output', { delta: 'a' }), event('done', { output: 'b' }));
    expect(await run()).toMatchObject(FAILED);
  });

  it('of another form than text leaves whole, by its schema alone [EXE-31]', async () => {
    stream(event('output', { delta: 'adding' }), event('done', { output: { total: 3 } }));
    expect(await run(OUTPUT_SCHEMA)).toEqual({ status: 'completed', output: { total: 3 } });
    stream(event('output', { delta: 'adding' }), event('done', { output: { total: 'three' } }));
    expect(await run(OUTPUT_SCHEMA)).toMatchObject(FAILED);
    expect(texts).toEqual([]);
  });

  it.each([
    [
      'says that it failed',
      [event('output', { delta: 'a' }), event('done', { status: 'failed', output: 'b' })],
    ],
    ['ends without an end', [event('output', { delta: 'a' })]],
    ['is empty', []],
    ['holds other data than JSON', ['event: output\ndata: {\n\n', event('done', {})]],
    ['holds a delta that is no text', [event('output', { delta: 5 }), event('done', {})]],
    ['ends in an unknown state', [event('done', { status: 'perhaps' })]],
    ['is nested deeper than we can store', [`event: done\ndata: {"output":${nested(20_000)}}\n\n`]],
  ])('that %s is a failed run [EXE-20]', async (_, events) => {
    stream(...events);
    expect(await run({})).toMatchObject(FAILED);
  });

  it('without an end is hung up on when it is too large', async () => {
    const closed = flood(event('output', { delta: 'x'.repeat(65_536) }), 'text/event-stream');
    expect(await run()).toMatchObject(FAILED);
    await closed;
  });

  it('is not waited for beyond its done', async () => {
    let closed: Promise<unknown> | undefined;
    serve = (_, response) => {
      closed = once(response, 'close');
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(event('done', { output: 'done' }));
    };
    expect(await run()).toEqual({ status: 'completed', output: 'done' });
    await closed;
  });
});
