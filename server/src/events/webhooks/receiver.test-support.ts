import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { pino } from 'pino';
import { migrateJobs } from '../../jobs/jobs.js';
import { deriveKeys } from '../../platform/keys.js';
import { createOutboundHttp, type OutboundHttp } from '../../platform/outbound-http.js';
import {
  newWallet,
  openTestDatabase,
  readBody,
  startHttpStandIn,
  type HttpStandIn,
  type TemporaryDatabase,
} from '../../testing/index.js';
import { openNotifications } from '../../database/notifications.js';
import { appendEvent } from '../append-event.js';
import { createDeliveries, type Deliveries } from './deliveries.js';
import { startDeliveries } from './start-deliveries.js';
import { createWebhooks, type Webhooks } from './webhooks.js';

/** A request that an address got. */
interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An address that hears of events. */
export interface Receiver extends HttpStandIn {
  readonly received: Received[];
  /** How it answers. */
  answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;
}

/** A database, addresses, and the parts of webhooks over them. */
export interface WebhookWorld {
  readonly database: TemporaryDatabase;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  readonly outbound: OutboundHttp;
  /** The state of its delivery after each request. */
  readonly sent: string[];
  readonly keys: ReturnType<typeof deriveKeys>;
  receiver(): Promise<Receiver>;
  /** Starts a server's delivery. */
  deliver(timeoutMs?: number): Promise<{ stop(): Promise<void> }>;
  /** Adds an event of a wallet, as a change of its keys makes it. Gives its id. */
  tell(wallet: string, subject?: string): Promise<string>;
  close(): Promise<void>;
}

/** Opens it. Nothing is delivered before {@link WebhookWorld.deliver}. */
export async function openWebhookWorld(): Promise<WebhookWorld> {
  const database = await openTestDatabase();
  await migrateJobs(database.pool);
  const { db, pool } = database;
  const allowed = new Set<string>();
  const outbound = createOutboundHttp(allowed);
  const keys = deriveKeys(Buffer.alloc(32, 7));
  const { signal: stopping } = new AbortController();
  const sent: string[] = [];
  const closing: (() => Promise<void>)[] = [];
  return {
    database,
    outbound,
    sent,
    keys,
    webhooks: createWebhooks({ db, keys, outbound, stopping }),
    deliveries: createDeliveries(db),
    async receiver() {
      const received: Received[] = [];
      const standIn = await startHttpStandIn(async (request, response) => {
        received.push({ path: request.url ?? '', headers: request.headers, body: await readBody(request) });
        await receiver.answer(request, response);
      });
      const receiver: Receiver = {
        ...standIn,
        received,
        answer: (_request, response) => void response.writeHead(204).end(),
      };
      allowed.add(standIn.origin);
      closing.push(standIn.close);
      return receiver;
    },
    async deliver(timeoutMs) {
      const logger = pino({ level: 'silent' });
      const notices = await openNotifications(pool, 'events', logger);
      const started = await startDeliveries({
        db,
        pool,
        keys,
        outbound,
        notices,
        logger,
        timeoutMs,
        onSent: (state) => void sent.push(state),
      });
      let stopped: Promise<void> | undefined;
      const stop = () => (stopped ??= notices.close().then(started.stop));
      closing.unshift(stop);
      return { stop };
    },
    async tell(wallet, subject = `key:${randomUUID()}`) {
      const data = { key_id: randomUUID(), label: 'ci', scopes: ['run'] };
      await db.transaction().execute((tx) => appendEvent(tx, { wallet, name: 'key.created', subject, data }));
      const { rows } = await sql<{ id: string }>`
        select id from events where wallet = ${wallet} and subject = ${subject} order by sequence desc limit 1`.execute(
        db,
      );
      return rows[0]?.id ?? '';
    },
    async close() {
      for (const close of closing) await close();
      await outbound.close();
      await database.close();
    },
  };
}

/** A new wallet with a webhook at an address. */
export async function newWebhook(world: WebhookWorld, receiver: Receiver) {
  const wallet = newWallet();
  const created = await world.webhooks.create(wallet, { url: `${receiver.origin}/hook` });
  return { wallet, ...created };
}

/** Waits until an address got so many requests. */
export const heard = (receiver: Receiver, count: number) =>
  expect.poll(() => receiver.received.length, { timeout: 15_000, interval: 20 }).toBe(count);

/** The one delivery of a webhook, once it fulfils a condition. */
export async function deliveryWhen(
  world: WebhookWorld,
  { wallet, id }: { wallet: string; id: string },
  expected: object,
): Promise<void> {
  const newest = async () => (await world.deliveries.list(wallet, id, { limit: 1 })).deliveries[0];
  await expect.poll(newest, { timeout: 15_000, interval: 20 }).toMatchObject(expected);
}
