import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Principal } from '../access/principal.js';
import { openNotifications, type Notifications } from '../database/notifications.js';
import { ApiError } from '../errors/api-error.js';
import { createInternalRequests } from '../http/internal-requests.js';
import { createHttpServer } from '../http/server.js';
import { createLogger } from '../platform/logger.js';
import { memoryRateLimits } from '../rate-limits/memory.js';
import { newWallet, openTestDatabase, type TemporaryDatabase } from '../testing/index.js';
import { appendEvent } from './append-event.js';
import { createEventStreams } from './event-streams.js';
import { eventRoutes } from './routes.js';

const logger = createLogger('silent');
const NEVER_MS = 3_600_000;
let database: TemporaryDatabase;
let notices: Notifications;
beforeAll(async () => {
  database = await openTestDatabase();
  notices = await openNotifications(database.pool, 'events', logger);
});
afterAll(async () => {
  await notices.close();
  await database.close();
});

/** Bearers that have ended. */
const ended = new Set<string>();
const servers: { http: FastifyInstance; ends: AbortController }[] = [];
afterEach(async () => {
  for (const { http, ends } of servers.splice(0)) {
    ends.abort();
    http.server.closeAllConnections();
    await http.close();
  }
});

/** A server whose bearers are `<wallet>` or `<wallet>/<key>`. */
async function serve(times: { pollMs?: number; stallMs?: number; isDeaf?: boolean } = {}) {
  const ends = new AbortController();
  const authenticate = async (authorization = ''): Promise<Principal> => {
    if (ended.has(authorization)) throw new ApiError('jwt_expired', 'It has ended.');
    const [wallet = '', key] = authorization.replace('Bearer ', '').split('/');
    return {
      wallet,
      rateKey: wallet,
      ...(key === undefined ? {} : { apiKey: { id: key, scopes: ['run'], policy: null } }),
    };
  };
  const http = await createHttpServer({
    logger,
    rateLimits: memoryRateLimits(),
    requestsPerMinute: 10_000,
    internalRequests: createInternalRequests(),
    authenticate,
  });
  const { isDeaf = false, ...waits } = times;
  const streams = createEventStreams({
    db: database.db,
    notices: isDeaf ? { subscribe: () => undefined } : notices,
    ends: ends.signal,
    logger,
    pollMs: NEVER_MS,
    ...waits,
  });
  eventRoutes(http, { db: database.db, streams });
  await http.listen({ port: 0, host: '127.0.0.1' });
  servers.push({ http, ends });
  const url = `http://127.0.0.1:${(http.server.address() as AddressInfo).port}/v1/events`;
  const request = (bearer: string, headers: Record<string, string> = {}, query = '') =>
    fetch(url + query, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${bearer}`, ...headers },
    });
  return { http, ends, url, request };
}

/** Reads blocks of a stream, one at a time; undefined at its end. */
function blocksOf(response: Response): { next(): Promise<string | undefined>; cancel(): Promise<void> } {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let text = '';
  return {
    async next() {
      while (!text.includes('\n\n')) {
        const { done, value } = await reader.read();
        if (done) return undefined;
        text += decoder.decode(value, { stream: true });
      }
      const [block = ''] = text.split('\n\n');
      text = text.slice(block.length + 2);
      return block;
    },
    cancel: () => reader.cancel(),
  };
}

const append = (wallet: string, label: string, extra: { apiKeyId?: string; name?: 'run.completed' } = {}) =>
  database.db.transaction().execute((tx) =>
    appendEvent(tx, {
      wallet,
      name: 'key.created',
      subject: `key:${label}`,
      data: { key_id: crypto.randomUUID(), label, scopes: [] },
      ...extra,
    }),
  );

/** The label and the id of the next event, past comments. */
async function nextEvent(blocks: ReturnType<typeof blocksOf>): Promise<{ id: string; label: string }> {
  for (;;) {
    const block = await blocks.next();
    if (block === undefined) throw new Error('The stream has ended.');
    const [, id = '', name, data] = /^id: (\d+)\nevent: (.+)\ndata: (.+)$/.exec(block) ?? [];
    if (data === undefined) continue;
    const event = JSON.parse(data) as { name: string; data: { label: string } };
    expect(event.name).toBe(name);
    return { id, label: event.data.label };
  }
}

/** Opens a stream and reads its first comment, which comes once it listens. */
async function openedAt(response: Response): Promise<ReturnType<typeof blocksOf>> {
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'text/event-stream; charset=utf-8',
  ]);
  const blocks = blocksOf(response);
  expect(await blocks.next()).toMatch(/^: still here\nid: \d+$/);
  return blocks;
}

describe('a stream of events', () => {
  it('begins at the present, and tells each event when it is committed', async () => {
    const wallet = newWallet();
    await append(wallet, 'past');
    const { request } = await serve();
    const blocks = await openedAt(await request(wallet));
    await append(newWallet(), 'of another wallet');
    for (const label of ['a', 'b']) {
      await append(wallet, label);
      expect(await nextEvent(blocks)).toMatchObject({ label });
    }
  });

  it('goes on after the id that it is given, without a gap and without a repetition [EVT-4]', async () => {
    const wallet = newWallet();
    const labels = Array.from({ length: 250 }, (_, n) => `${n}`);
    for (const label of labels) await append(wallet, label);
    const { request } = await serve();
    const heard: string[] = [];
    let id = '0';
    while (heard.length < labels.length) {
      const blocks = blocksOf(await request(wallet, { 'last-event-id': id }, '?after=999999999999999999'));
      for (let n = 0; n < 110 && heard.length < labels.length; n += 1) {
        const event = await nextEvent(blocks);
        heard.push(event.label);
        id = event.id;
      }
      await blocks.cancel();
    }
    expect(heard).toEqual(labels);
  });

  it('gives a browser its place before the first event', async () => {
    const wallet = newWallet();
    await append(wallet, 'past');
    const { request } = await serve();
    const opened = blocksOf(await request(wallet));
    const [, id = ''] = (await opened.next())?.split('id: ') ?? [];
    await opened.cancel();
    await append(wallet, 'missed');
    expect(await nextEvent(blocksOf(await request(wallet, { 'last-event-id': id })))).toMatchObject({
      label: 'missed',
    });
  });

  it('finds an event whose notice was lost', async () => {
    const wallet = newWallet();
    const { request } = await serve({ isDeaf: true, pollMs: 20 });
    const blocks = await openedAt(await request(wallet));
    await append(wallet, 'unnoticed');
    expect(await nextEvent(blocks)).toMatchObject({ label: 'unnoticed' });
  });

  it('hears a notice for many wallets', async () => {
    const wallet = newWallet();
    const { request } = await serve();
    const blocks = await openedAt(await request(wallet));
    // Changes of a listing write such rows, and one notice.
    await database.db
      .insertInto('events')
      .values({
        wallet,
        name: 'key.created',
        subject: 'key:x',
        sequence: 1n,
        data: JSON.stringify({ label: 'silent' }),
      })
      .execute();
    await notices.publish('');
    expect(await nextEvent(blocks)).toMatchObject({ label: 'silent' });
  });

  it('has the kinds that are asked for, and the events of an API key', async () => {
    const [wallet, key] = [newWallet(), crypto.randomUUID()];
    const { request } = await serve();
    const ofKey = await openedAt(await request(`${wallet}/${key}`));
    const ofKind = await openedAt(await request(wallet, {}, '?types=run.completed'));
    await append(wallet, 'of the wallet');
    await append(wallet, 'of the key', { apiKeyId: key, name: 'run.completed' });
    for (const blocks of [ofKey, ofKind])
      expect(await nextEvent(blocks)).toMatchObject({ label: 'of the key' });
  });

  it('ends before it tells anything to a bearer that has ended [EVT-4]', async () => {
    const wallet = newWallet();
    const { request } = await serve();
    const blocks = await openedAt(await request(wallet));
    ended.add(`Bearer ${wallet}`);
    await append(wallet, 'secret');
    expect(await blocks.next()).toBeUndefined();
    expect((await request(wallet)).status).toBe(401);
  });

  it('ends with the server, which opens no more', async () => {
    const wallet = newWallet();
    const { request, ends } = await serve();
    const blocks = await openedAt(await request(wallet));
    ends.abort();
    expect(await blocks.next()).toBeUndefined();
    expect((await request(wallet)).status).toBe(503);
  });

  it('is one of at most twenty of a wallet, until one is closed', async () => {
    const [wallet, other] = [newWallet(), newWallet()];
    const { request } = await serve();
    const open = await Promise.all(Array.from({ length: 20 }, async () => openedAt(await request(wallet))));
    const refused = await request(wallet);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    expect(await refused.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    await openedAt(await request(other));
    await open[0]?.cancel();
    await vi.waitFor(async () => expect((await request(wallet)).status).toBe(200));
  });

  it('reads no more for a reader that takes nothing, and cuts it off', async () => {
    const wallet = newWallet();
    await database.pool.query(
      `insert into events (wallet, name, subject, sequence, data)
       select $1, 'key.created', 'key:' || n, 1, jsonb_build_object('label', repeat('x', 20000)) from generate_series(1, 3000) n`,
      [wallet],
    );
    const { http, url } = await serve({ stallMs: 300 });
    const waiting: number[] = [];
    http.server.once('request', (_, response: { writableLength: number }) => {
      const timer = setInterval(() => waiting.push(response.writableLength), 10);
      http.server.once('close', () => clearInterval(timer));
    });
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${wallet}`, 'last-event-id': '0' };
    const [response] = (await once(get(url, { headers }), 'response')) as [IncomingMessage];
    response.on('error', () => undefined);
    await vi.waitFor(() => expect(http.server).toHaveProperty('_connections', 0), { timeout: 10_000 });
    // A page is 2 MB, and all of it is 60 MB.
    expect(Math.max(...waiting)).toBeLessThan(5_000_000);
    response.destroy();
  });
});

describe('the feed', () => {
  it('gives pages to a caller that does not ask for a stream first', async () => {
    const wallet = newWallet();
    for (const label of ['a', 'b', 'c']) await append(wallet, label);
    const { request } = await serve();
    for (const accept of ['*/*', 'application/json, text/event-stream', 'text/html']) {
      expect(await (await request(wallet, { accept })).json()).toMatchObject({
        events: [{ subject: 'key:a' }, { subject: 'key:b' }, { subject: 'key:c' }],
      });
    }
  });

  it('goes back from the newest, page by page', async () => {
    const wallet = newWallet();
    for (const label of ['a', 'b', 'c']) await append(wallet, label);
    const { request } = await serve();
    const heard: string[] = [];
    for (let before = ''; heard.length < 4;) {
      const response = await request(wallet, { accept: '*/*' }, `?order=newest&limit=2${before}`);
      const { events, cursor } = (await response.json()) as { events: { subject: string }[]; cursor: string };
      heard.push(...(events.length > 0 ? events.map(({ subject }) => subject) : ['end']));
      before = `&before=${cursor}`;
    }
    expect(heard).toEqual(['key:c', 'key:b', 'key:a', 'end']);
  });

  it('refuses an id that is no cursor', async () => {
    const { request } = await serve();
    expect((await request(newWallet(), { 'last-event-id': 'x' })).status).toBe(400);
  });
});
