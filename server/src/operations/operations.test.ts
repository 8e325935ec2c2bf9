import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { requireMigrated } from '../database/migrate.js';
import { createHttpServer } from '../http/server.js';
import { createInternalRequests } from '../http/internal-requests.js';
import { createLogger } from '../platform/logger.js';
import { memoryRateLimits } from '../rate-limits/memory.js';
import {
  insertListing,
  insertRun,
  newWallet,
  openTestDatabase,
  type TemporaryDatabase,
} from '../testing/index.js';
import { createMetrics } from './metrics.js';
import { createReadiness } from './readiness.js';
import { createOperationsRepository } from './repository.js';
import { operationsRoutes } from './routes.js';

const TOKEN = 'a-token-of-the-operator';
let database: TemporaryDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

async function server(options: { metricsToken?: string; openOnLoopback: boolean }): Promise<FastifyInstance> {
  const metrics = createMetrics();
  const app = await createHttpServer({
    logger: createLogger('silent'),
    rateLimits: memoryRateLimits(),
    requestsPerMinute: 100,
    internalRequests: createInternalRequests(),
    authenticate: async () => ({ wallet: 'wallet', rateKey: 'wallet' }),
    onAnswered: (request) => metrics.answered(request),
  });
  app.get('/v1/things/:id', async () => ({}));
  operationsRoutes(app, {
    metrics,
    metricsToken: options.metricsToken,
    openOnLoopback: options.openOnLoopback,
    readiness: async () => ({ ready: true, reasons: [], details: {} }),
  });
  return app;
}

it('the metrics name routes by their pattern, never by the content of a path', async () => {
  const app = await server({ openOnLoopback: true });
  await app.inject('/v1/things/7o5JQKMq5qJ7FntBcZW6cyTxW9ZGpiXeKEYCHjCnfuPk');
  await app.inject('/nowhere/7o5JQKMq5qJ7FntBcZW6cyTxW9ZGpiXeKEYCHjCnfuPk');
  const { statusCode, headers, body } = await app.inject('/metrics');
  expect(statusCode).toBe(200);
  expect(headers['content-type']).toContain('text/plain');
  expect(body).toContain('route="/v1/things/:id",status="200"');
  expect(body).toContain('route="unmatched",status="404"');
  expect(body).toContain('nodejs_eventloop_lag_seconds');
  expect(body).not.toContain('7o5J');
  await app.close();
});

it.each([
  ['with a token set, no one without it', TOKEN, {}, '127.0.0.1', 401],
  ['with a token set, no other one', TOKEN, { authorization: 'Bearer another' }, '127.0.0.1', 401],
  [
    'with a token set, its bearer from anywhere',
    TOKEN,
    { authorization: `Bearer ${TOKEN}` },
    '203.0.113.9',
    200,
  ],
  ['without one, this machine', undefined, {}, '127.0.0.1', 200],
  ['without one, this machine over IPv6', undefined, {}, '::1', 200],
  ['without one, no one else', undefined, {}, '203.0.113.9', 404],
  [
    'without one, no proxy of this machine',
    undefined,
    { 'x-forwarded-for': '203.0.113.9' },
    '127.0.0.1',
    404,
  ],
])('may read the metrics: %s', async (_, metricsToken, headers, remoteAddress, status) => {
  const app = await server({ ...(metricsToken ? { metricsToken } : {}), openOnLoopback: true });
  const answer = await app.inject({ url: '/metrics', headers, remoteAddress });
  expect(answer.statusCode).toBe(status);
  await app.close();
});

it('with production parts and no token, the metrics are not there for anybody', async () => {
  const app = await server({ openOnLoopback: false });
  expect((await app.inject('/metrics')).statusCode).toBe(404);
  await app.close();
});

it('readiness names each part that is missing, also one that does not answer, and asks again later [OPS-1]', async () => {
  let draining = false;
  let asked = 0;
  const readiness = createReadiness(
    {
      database: () => {
        asked += 1;
      },
      chain: () => Promise.reject(new Error('out of reach')),
      sandboxes: () => {
        throw new Error('none');
      },
    },
    () => draining,
  );
  expect(await readiness()).toEqual({ ready: false, details: {}, reasons: ['chain', 'sandboxes'] });
  draining = true;
  expect(await readiness()).toEqual({
    ready: false,
    details: {},
    reasons: ['draining', 'chain', 'sandboxes'],
  });
  // A stranger who asks often does not make the parts work.
  expect(asked).toBe(1);
});

it('a database that lacks a migration is not ready', async () => {
  const { db } = database;
  await sql`update kysely_migration set name = 'other'`.execute(db);
  await expect(requireMigrated(db)).rejects.toThrow('0001-initial');
  await sql`update kysely_migration set name = '0001-initial'`.execute(db);
});

it('counts open charges by state with the age of the oldest, and slots that are held', async () => {
  const { db } = database;
  const listing = await insertListing(db);
  const wallet = newWallet();
  for (const [index, state] of (['reserved', 'signed', 'signed', 'finalized'] as const).entries()) {
    const runId = await insertRun(db, listing, wallet);
    await db
      .insertInto('charges')
      .values({
        run_id: runId,
        wallet,
        listing_id: listing.id,
        balance_address: 'balance',
        price_lamports: 1n,
        sequence: BigInt(index + 1),
        state,
        created_at: new Date(Date.now() - index * 100_000),
      })
      .execute();
    const expires = new Date(Date.now() + (state === 'finalized' ? -1 : 60_000));
    await db
      .insertInto('seats')
      .values({ run_id: runId, listing_id: listing.id, expires_at: expires })
      .execute();
  }
  const counts = createOperationsRepository(db);
  const open = [...(await counts.openCharges())];
  expect(Object.fromEntries(open.map(([state, { count }]) => [state, count]))).toEqual({
    reserved: 1,
    signed: 2,
  });
  const ages = Object.fromEntries(open.map(([state, { oldestSeconds }]) => [state, oldestSeconds]));
  expect(ages['reserved']).toBeLessThan(100);
  expect(ages['signed']).toBeGreaterThanOrEqual(200);
  expect(ages['signed']).toBeLessThan(300);
  expect(await counts.slotsTaken()).toBe(3);
});

it('waiting deliveries are counted, and the oldest has its age', async () => {
  const { db } = database;
  const counts = createOperationsRepository(db);
  expect(await counts.deliveriesWaiting()).toEqual({ count: 0, oldestSeconds: 0 });
  const wallet = newWallet();
  await sql`insert into webhooks (wallet, url, sealed_secrets) values (${wallet}, 'https://hook.example', '')`.execute(
    db,
  );
  for (const subject of ['a', 'b', 'c'])
    await sql`select append_event(${wallet}, 'key.created', ${subject}, '{}')`.execute(db);
  await sql`update webhook_deliveries d set status = case subject when 'a' then 'delivered' else 'pending' end,
    created_at = now() - case subject when 'c' then interval '1 hour' else interval '2 hours' end
    from events e where e.id = d.event_id and subject <> 'b'`.execute(db);
  const { count, oldestSeconds } = await counts.deliveriesWaiting();
  expect(count).toBe(2);
  expect(Math.floor(oldestSeconds / 60)).toBe(60);
});
