import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../errors/api-error.js';
import { createHttpServer } from './server.js';
import { createInternalRequests, type InternalRequests } from './internal-requests.js';
import { createLogger } from '../platform/logger.js';
import { memoryRateLimits } from '../rate-limits/memory.js';

const RENTER = { wallet: 'renter', rateKey: 'wallet:renter' };
const BASE = 'http://inside';

let app: FastifyInstance;
let internal: InternalRequests;
let streams: { write(text: string): void; end(): void; closed: Promise<void> }[];
let waiting: { arrived: Promise<void>; closed: Promise<void> };
let seenHeaders: Record<string, unknown>;

beforeEach(async () => {
  streams = [];
  internal = createInternalRequests();
  app = await createHttpServer({
    logger: createLogger('silent'),
    rateLimits: memoryRateLimits(),
    requestsPerMinute: 2,
    internalRequests: internal,
    authenticate: async () => {
      throw new ApiError('unauthorized', 'No one.');
    },
  });
  app.route({
    method: 'POST',
    url: '/whoami',
    config: { auth: 'bearer' },
    handler: async (request) => {
      seenHeaders = request.headers;
      return { wallet: request.principal?.wallet, body: request.body, query: request.query };
    },
  });
  app.get('/stream', { config: { auth: 'bearer' } }, async (_, reply) => {
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
    reply.hijack();
    streams.push({
      write: (text) => void reply.raw.write(text),
      end: () => void reply.raw.end(),
      closed: new Promise<void>((resolve) => reply.raw.once('close', () => resolve())),
    });
    reply.raw.write('first');
  });
  let arrive: () => void;
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  let close: () => void;
  const closed = new Promise<void>((resolve) => (close = resolve));
  waiting = { arrived, closed };
  app.route({
    method: ['GET', 'POST'],
    url: '/wait',
    config: { auth: 'bearer' },
    handler: async (_, reply) => {
      reply.raw.once('close', () => close());
      arrive();
      await closed;
      return {};
    },
  });
});
afterEach(() => app.close());

const streaming = { headers: { accept: 'text/event-stream' } };
const whoami = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":"ü"}' };

describe('an internal request', () => {
  it('carries its principal, body and query, and is not counted again', async () => {
    const fetchAs = internal.fetchAs(app, RENTER);
    for (let time = 0; time < 5; time += 1) {
      const response = await fetchAs(`${BASE}/whoami?b=1`, whoami);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ wallet: 'renter', body: { a: 'ü' }, query: { b: '1' } });
    }
  });

  it('keeps its principal among others at the same time', async () => {
    const wallets = await Promise.all(
      ['a', 'b', 'c'].map(async (wallet) => {
        const response = await internal.fetchAs(app, { wallet, rateKey: wallet })(`${BASE}/whoami`, whoami);
        return ((await response.json()) as { wallet: string }).wallet;
      }),
    );
    expect(wallets).toEqual(['a', 'b', 'c']);
  });

  it('gives errors as answers, with their headers', async () => {
    const response = await internal.fetchAs(app, RENTER)(`${BASE}/nowhere`);
    expect(response.status).toBe(404);
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
  });

  it('streams: each write arrives before the end', async () => {
    const response = await internal.fetchAs(app, RENTER)(`${BASE}/stream`, streaming);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const read = async () => Buffer.from((await reader.read()).value ?? []).toString('utf8');
    expect(await read()).toBe('first');
    streams[0]?.write('second');
    expect(await read()).toBe('second');
    streams[0]?.end();
    expect((await reader.read()).done).toBe(true);
  });

  it('is closed inside when its body is cancelled', async () => {
    const response = await internal.fetchAs(app, RENTER)(`${BASE}/stream`, streaming);
    await response.body?.cancel();
    await streams[0]?.closed;
  });

  it.each([
    ['without a body', {}],
    ['whose body has been read', whoami],
    ['that would stream', streaming],
  ])('%s is closed inside when its signal aborts before there is an answer', async (_, init) => {
    const controller = new AbortController();
    const answer = internal
      .fetchAs(app, RENTER)(`${BASE}/wait`, { ...init, signal: controller.signal })
      .catch((error: unknown) => error);
    await waiting.arrived;
    controller.abort();
    expect(await answer).toBeInstanceOf(Error);
    await waiting.closed;
  });

  it('is closed inside when its signal aborts while it streams', async () => {
    const controller = new AbortController();
    const response = await internal.fetchAs(app, RENTER)(`${BASE}/stream`, {
      ...streaming,
      signal: controller.signal,
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    controller.abort();
    await streams[0]?.closed;
    await expect(reader.read()).rejects.toThrow();
  });
});

describe('a caller from outside', () => {
  it('cannot pass for one, by a guessed header', async () => {
    for (const token of ['', 'renter', 'undefined', '__proto__', 'constructor']) {
      const response = await app.inject({
        ...whoami,
        method: 'POST',
        url: '/whoami',
        headers: { ...whoami.headers, 'x-agent-rental-internal': token },
      });
      expect([401, 429]).toContain(response.statusCode);
    }
  });

  it('cannot use the token of one that has ended', async () => {
    await internal.fetchAs(app, RENTER)(`${BASE}/whoami`, whoami);
    const token = String(seenHeaders['x-agent-rental-internal']);
    expect(token.length).toBeGreaterThan(40);
    expect(internal.principalOf({ 'x-agent-rental-internal': token })).toBeUndefined();
  });

  it('cannot choose the principal through headers that are passed on', async () => {
    const response = await internal.fetchAs(app, RENTER)(`${BASE}/whoami`, {
      ...whoami,
      headers: { ...whoami.headers, 'X-Agent-Rental-Internal': 'forged', authorization: 'Bearer other' },
    });
    expect(await response.json()).toMatchObject({ wallet: 'renter' });
  });
});
