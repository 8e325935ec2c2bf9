import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { verifyWebhook } from '@agent-rental/sdk';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loginOf, newWallet } from '../../testing/index.js';
import { appendEvent } from '../append-event.js';
import { readEvents } from '../read-events.js';
import { deliverEvents } from './deliver.js';
import { enqueueDeliveries } from './enqueue-deliveries.js';
import {
  deliveryWhen,
  heard,
  newWebhook,
  openWebhookWorld,
  type Receiver,
  type WebhookWorld,
} from './receiver.test-support.js';

let world: WebhookWorld;
let receiver: Receiver;
beforeEach(async () => {
  world = await openWebhookWorld();
  receiver = await world.receiver();
});
afterEach(() => world.close());

const ids = ({ received }: Receiver) => received.map(({ headers }) => String(headers['webhook-id']));
/** Lets a webhook's waits pass. */
async function passTime(id: string): Promise<void> {
  const { db } = world.database;
  await sql`update webhooks set rests_until = now() where id = ${id}::uuid`.execute(db);
  await sql`update webhook_deliveries set next_attempt_at = now() where webhook_id = ${id}::uuid`.execute(db);
  await enqueueDeliveries(db, { webhookIds: [id] });
}
const stateOf = async (id: string) =>
  (
    await sql<{ failures: number; failing_since: Date | null; paused_at: Date | null }>`
      select failures, failing_since, paused_at from webhooks where id = ${id}::uuid`.execute(
      world.database.db,
    )
  ).rows[0];

describe('an event', () => {
  it('arrives once for a committed change, as the feed has it, and never for one that was rolled back', async () => {
    const { wallet, id, secret } = await newWebhook(world, receiver);
    await world.deliver();
    const data = { key_id: id, label: 'lost', scopes: [] };
    await world.database.db
      .transaction()
      .execute(async (tx) => {
        await appendEvent(tx, { wallet, name: 'key.created', subject: 'key:lost', data });
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    const eventId = await world.tell(wallet);
    await deliveryWhen(world, { wallet, id }, { event_id: eventId, status: 'delivered' });
    const [got, ...more] = receiver.received;
    expect(more).toEqual([]);
    const [inFeed] = await readEvents(world.database.db, loginOf(wallet), { limit: 10 });
    expect(got?.body).toBe(JSON.stringify(inFeed?.event));
    expect(verifyWebhook(got?.body ?? '', got?.headers ?? {}, secret)).toEqual(inFeed?.event);
    expect(got?.headers).toMatchObject({
      'user-agent': 'agent-rental-webhooks',
      'content-type': 'application/json',
    });
    const { deliveries } = await world.deliveries.list(wallet, id, { limit: 10 });
    expect(deliveries).toEqual([
      expect.objectContaining({
        attempts: [{ at: expect.anything(), duration_ms: expect.anything(), http_status: 204 }],
      }),
    ]);
  });

  it('is signed as Standard Webhooks says, by a verifier in Python and by one after the algorithm in Go [EVT-5]', async () => {
    const { wallet, secret } = await newWebhook(world, receiver);
    await world.deliver();
    await world.tell(wallet);
    await heard(receiver, 1);
    const headers: IncomingHttpHeaders = receiver.received[0]?.headers ?? {};
    const body = receiver.received[0]?.body ?? '';
    const signed = ['id', 'timestamp', 'signature'].map((name) => String(headers[`webhook-${name}`]));
    const python = spawnSync('python3', ['-c', PYTHON, secret, ...signed], { input: body, encoding: 'utf8' });
    expect(python).toMatchObject({ status: 0, stdout: 'valid\n' });
    const forged = spawnSync('python3', ['-c', PYTHON, secret, ...signed], {
      input: `${body} `,
      encoding: 'utf8',
    });
    expect(forged.stdout).toBe('forged\n');
    const mac = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'));
    mac.update(`${signed[0]}.${signed[1]}.`).update(body);
    expect(signed[2]).toBe(`v1,${mac.digest('base64')}`);
  });

  it('is sent once, however many servers deliver', async () => {
    const hooks = [];
    for (let n = 0; n < 3; n += 1) hooks.push(await newWebhook(world, receiver));
    await world.deliver();
    await world.deliver();
    const told: string[] = [];
    for (let n = 0; n < 150; n += 1) told.push(await world.tell(hooks[n % 3]?.wallet ?? ''));
    for (const hook of hooks) {
      const open = async () =>
        (await world.deliveries.list(hook.wallet, hook.id, { limit: 100 })).deliveries.filter(
          ({ status }) => status !== 'delivered',
        ).length;
      await expect.poll(open, { timeout: 30_000 }).toBe(0);
    }
    expect(ids(receiver).toSorted()).toEqual(told.toSorted());
  });

  it('is sent again by another server, with the same id, when the lease of the first has ended', async () => {
    const { db } = world.database;
    const { wallet, id } = await newWebhook(world, receiver);
    const eventId = await world.tell(wallet);
    const deps = { db, keys: world.keys, outbound: world.outbound, stopping: new AbortController().signal };
    let answer = (): void => undefined;
    receiver.answer = (_request, response) => void (answer = () => response.writeHead(500).end());
    const first = deliverEvents(deps, [id]);
    await heard(receiver, 1);
    const answerFirst = answer;
    receiver.answer = (_request, response) => void response.writeHead(200).end();
    await deliverEvents(deps, [id]);
    expect(ids(receiver)).toEqual([eventId]);
    await passTime(id);
    await deliverEvents(deps, [id]);
    expect(ids(receiver)).toEqual([eventId, eventId]);
    answerFirst();
    await first;
    // The late answer to the first server changes nothing.
    await deliveryWhen(world, { wallet, id }, { status: 'delivered', attempts: [{ http_status: 200 }] });
  });

  it('that a stopping server was sending is sent by the next one at once', async () => {
    const { wallet, id } = await newWebhook(world, receiver);
    receiver.answer = () => undefined;
    const server = await world.deliver();
    const eventId = await world.tell(wallet);
    await heard(receiver, 1);
    await server.stop();
    receiver.answer = (_request, response) => void response.writeHead(200).end();
    await world.deliver();
    await deliveryWhen(world, { wallet, id }, { status: 'delivered', attempts: [{ http_status: 200 }] });
    expect(ids(receiver)).toEqual([eventId, eventId]);
  });

  it('whose notice was lost is found by the next server that starts', async () => {
    const { wallet, id } = await newWebhook(world, receiver);
    await world.tell(wallet);
    await world.deliver();
    await deliveryWhen(world, { wallet, id }, { status: 'delivered' });
  });
});

const MIB = Buffer.alloc(1024 * 1024, 'x');
let flood = 0;
const RECEIVERS: [string, Receiver['answer'], string, number | undefined][] = [
  ['hangs', () => undefined, 'no answer within 0.3 s', undefined],
  ['answers 500', (_request, response) => void response.writeHead(500).end('broken'), 'it answered 500', 500],
  [
    'redirects',
    (_request, response) => void response.writeHead(307, { location: '/elsewhere' }).end(),
    'it answered 307, and redirects are not followed',
    307,
  ],
  ['closes the connection', (request) => void request.socket.destroy(), 'the connection failed', undefined],
];

describe('an address', () => {
  it.each(RECEIVERS)('that %s is told again later', async (_, answer, told, status) => {
    const { wallet, id } = await newWebhook(world, receiver);
    receiver.answer = answer;
    await world.deliver(300);
    const eventId = await world.tell(wallet);
    const reason = expect.stringContaining(told) as string;
    const failed = { at: expect.anything() as string, duration_ms: expect.anything() as number, reason };
    const attempt = status === undefined ? failed : { ...failed, http_status: status };
    await deliveryWhen(world, { wallet, id }, { status: 'pending', attempts: [attempt] });
    const { deliveries } = await world.deliveries.list(wallet, id, { limit: 1 });
    const waits =
      Date.parse(deliveries[0]?.next_attempt_at ?? '') - Date.parse(deliveries[0]?.attempts[0]?.at ?? '');
    expect(waits).toBeGreaterThan(4_000);
    expect(waits).toBeLessThan(8_000);
    receiver.answer = (_request, response) => void response.writeHead(204).end();
    await passTime(id);
    await deliveryWhen(
      world,
      { wallet, id },
      { status: 'delivered', attempts: [attempt, { http_status: 204 }] },
    );
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook', '/hook']);
    expect(ids(receiver)).toEqual([eventId, eventId]);
    await expect.poll(() => world.sent).toEqual(['pending', 'delivered']);
  });

  it('that answers 10 MB is delivered to, and its answer is dropped', async () => {
    const { wallet, id } = await newWebhook(world, receiver);
    receiver.answer = async (_request, response) => {
      response.writeHead(200);
      for (let n = 0; n < 10 && !response.destroyed; n += 1) {
        flood = n;
        if (!response.write(MIB)) await new Promise((go) => response.once('drain', go).once('close', go));
      }
      response.end();
    };
    await world.deliver();
    await world.tell(wallet);
    await deliveryWhen(world, { wallet, id }, { status: 'delivered' });
    expect(flood).toBeLessThan(9);
  });

  it('that answers 200 and never ends its answer is delivered to, and holds nothing', async () => {
    const { wallet, id } = await newWebhook(world, receiver);
    receiver.answer = (_request, response) => void response.writeHead(200).write('.');
    await world.deliver();
    for (let n = 0; n < 12; n += 1) await world.tell(wallet);
    // Long before an attempt must end.
    await expect.poll(() => receiver.received.length, { timeout: 8_000 }).toBe(12);
    await deliveryWhen(world, { wallet, id }, { status: 'delivered', attempts: [{ http_status: 200 }] });
  });

  it('whose name leads to a private address gets nothing [EVT-7]', async () => {
    const wallet = newWallet();
    const { port } = receiver;
    const { id } = await world.webhooks.create(wallet, { url: `https://localhost:${port}/hook` });
    await world.deliver();
    await world.tell(wallet);
    const reason = 'localhost does not lead to a public address';
    await deliveryWhen(world, { wallet, id }, { status: 'pending', attempts: [{ reason }] });
    expect(await world.webhooks.test(wallet, id)).toMatchObject({ reason });
    expect(receiver.received).toEqual([]);
  });

  it('that answers 410 is not told of that event again', async () => {
    const { wallet, id } = await newWebhook(world, receiver);
    receiver.answer = (_request, response) => void response.writeHead(410).end();
    await world.deliver();
    await world.tell(wallet);
    await deliveryWhen(world, { wallet, id }, { status: 'failed', attempts: [{ http_status: 410 }] });
    await expect.poll(() => world.sent).toEqual(['failed']);
  });

  it('that fails rests, gets one event to try, and everything once it takes that', async () => {
    const { wallet, id } = await newWebhook(world, receiver);
    receiver.answer = (_request, response) => void response.writeHead(503).end();
    await world.deliver();
    await world.tell(wallet);
    await expect.poll(async () => (await stateOf(id))?.failures).toBe(1);
    for (let n = 0; n < 5; n += 1) await world.tell(wallet);
    await passTime(id);
    await expect.poll(async () => (await stateOf(id))?.failures).toBe(2);
    // One of six due ones was sent.
    expect(receiver.received).toHaveLength(2);
    receiver.answer = (_request, response) => void response.writeHead(204).end();
    await passTime(id);
    await heard(receiver, 8);
    expect(await stateOf(id)).toMatchObject({ failures: 0, failing_since: null });
  });

  it('that fails for three days is paused, and its wallet hears of it elsewhere [EVT-6]', async () => {
    const { db } = world.database;
    const { wallet, id } = await newWebhook(world, receiver);
    const other = await world.receiver();
    await world.webhooks.create(wallet, { url: `${other.origin}/other`, events: ['webhook.paused'] });
    receiver.answer = (_request, response) => void response.writeHead(500).end();
    for (let n = 0; n < 12; n += 1) await world.tell(wallet);
    const failing = new Date(Date.now() - 3 * 24 * 3_600_000 - 1_000);
    await sql`update webhooks set failures = 9, failing_since = ${failing} where id = ${id}::uuid`.execute(
      db,
    );
    await world.deliver();
    await heard(other, 1);
    expect(JSON.parse(other.received[0]?.body ?? '')).toMatchObject({
      name: 'webhook.paused',
      subject: `webhook:${id}`,
      data: { webhook_id: id, failing_since: failing.toISOString() },
    });
    expect((await stateOf(id))?.paused_at).not.toBeNull();
    const { deliveries } = await world.deliveries.list(wallet, id, { limit: 100 });
    expect(deliveries.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 'failed'));
    expect(receiver.received).toHaveLength(1);
  });

  it('that failed days ago, without events after it, is not paused by its next failure', async () => {
    const { db } = world.database;
    const { wallet, id } = await newWebhook(world, receiver);
    receiver.answer = (_request, response) => void response.writeHead(500).end();
    await sql`update webhooks set failures = 9, failing_since = now() - interval '9 days',
      rests_until = now() - interval '5 days' where id = ${id}::uuid`.execute(db);
    await world.deliver();
    await world.tell(wallet);
    await expect.poll(async () => (await stateOf(id))?.failures).toBe(10);
    expect(await stateOf(id)).toMatchObject({ paused_at: null });
    expect(Date.now() - Number((await stateOf(id))?.failing_since)).toBeLessThan(60_000);
  });
});

describe('a delivery', () => {
  it('ends as failed three days after its event, and is sent again when it is asked for', async () => {
    const { wallet, id } = await newWebhook(world, receiver);
    receiver.answer = (_request, response) => void response.writeHead(500).end();
    const eventId = await world.tell(wallet);
    await sql`update events set created_at = now() - interval '3 days' where id = ${eventId}::uuid`.execute(
      world.database.db,
    );
    await world.deliver();
    await deliveryWhen(world, { wallet, id }, { status: 'failed', attempts: [{ http_status: 500 }] });
    receiver.answer = (_request, response) => void response.writeHead(200).end();
    expect(await world.deliveries.redeliver(wallet, id, eventId)).toMatchObject({ status: 'pending' });
    await deliveryWhen(world, { wallet, id }, { status: 'delivered' });
    await world.deliveries.redeliver(wallet, id, eventId);
    await heard(receiver, 3);
    expect(ids(receiver)).toEqual([eventId, eventId, eventId]);
  });

  it('keeps its last 20 attempts', async () => {
    const { wallet, id } = await newWebhook(world, receiver);
    await world.tell(wallet);
    const attempts = Array.from({ length: 20 }, (_, n) => ({
      at: new Date(n).toISOString(),
      duration_ms: n,
      reason: 'no',
    }));
    await sql`update webhook_deliveries set attempts = ${JSON.stringify(attempts)}::jsonb where webhook_id = ${id}::uuid`.execute(
      world.database.db,
    );
    await world.deliver();
    await deliveryWhen(world, { wallet, id }, { status: 'delivered' });
    const [delivery] = (await world.deliveries.list(wallet, id, { limit: 1 })).deliveries;
    expect(delivery?.attempts.map((attempt) => attempt.duration_ms).slice(0, 19)).toEqual(
      attempts.slice(1).map((attempt) => attempt.duration_ms),
    );
    expect(delivery?.attempts).toHaveLength(20);
  });
});

describe('a secret', () => {
  it('that was replaced signs beside the new one for a day, and no longer [EVT-5]', async () => {
    const { db } = world.database;
    const { wallet, id, secret } = await newWebhook(world, receiver);
    const { secret: next } = await world.webhooks.rotate(wallet, id);
    expect(next).not.toBe(secret);
    expect(await world.webhooks.test(wallet, id)).toMatchObject({ http_status: 204 });
    const [tested] = receiver.received;
    for (const each of [secret, next]) {
      expect(verifyWebhook(tested?.body ?? '', tested?.headers ?? {}, each)).toMatchObject({
        name: 'webhook.test',
        data: { webhook_id: id },
      });
    }
    expect(await readEvents(db, loginOf(wallet), { limit: 10 })).toEqual([]);
    // As a day later.
    const context = `webhook:${id}`;
    const expired = { present: next, previous: { secret, until: Date.now() - 1 } };
    await db
      .updateTable('webhooks')
      .set({ sealed_secrets: world.keys.seal(JSON.stringify(expired), context) })
      .where('id', '=', id)
      .execute();
    await world.webhooks.test(wallet, id);
    const later = receiver.received[1];
    expect(() => verifyWebhook(later?.body ?? '', later?.headers ?? {}, secret)).toThrow();
    verifyWebhook(later?.body ?? '', later?.headers ?? {}, next);
  });
});

/** Verifies as the specification says, with the standard library alone. */
const PYTHON = `
import base64, hashlib, hmac, sys
secret, id, timestamp, signatures = sys.argv[1:]
key = base64.b64decode(secret.removeprefix("whsec_"))
signed = f"{id}.{timestamp}.".encode() + sys.stdin.buffer.read()
expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
given = [each.split(",", 1)[1] for each in signatures.split(" ") if each.startswith("v1,")]
print("valid" if any(hmac.compare_digest(expected, each) for each in given) else "forged")
`;
