import { randomBytes, randomUUID } from 'node:crypto';
import { verifyWebhook } from '@agent-rental/sdk';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createBeginRun } from '../../runs/history/begin-runs.js';
import { parseOrder } from '../../runs/pipeline/order.js';
import type { RunCallback } from '../../runs/task.js';
import { insertListing, loginOf, newWallet } from '../../testing/index.js';
import { createCallbacks } from './callbacks.js';
import { heard, openWebhookWorld, type Receiver, type WebhookWorld } from './receiver.test-support.js';

let world: WebhookWorld;
let listing: Awaited<ReturnType<typeof insertListing>>;
let begin: ReturnType<typeof createBeginRun>;
beforeAll(async () => {
  world = await openWebhookWorld();
  listing = await insertListing(world.database.db);
  begin = createBeginRun(world.database.db);
  await world.deliver(2_000);
});
afterAll(() => world.close());

async function start(wallet: string, callback?: RunCallback): Promise<string> {
  const id = randomUUID();
  await begin({
    id,
    listingId: listing.id,
    versionId: listing.version_id,
    owner: loginOf(wallet),
    key: undefined,
    requestDigest: randomBytes(32),
    salt: randomBytes(16),
    inputDigest: randomBytes(32),
    callback,
  });
  return id;
}
const end = (id: string, status: 'completed' | 'undelivered' = 'completed') =>
  world.database.db.updateTable('runs').set({ status }).where('id', '=', id).execute();
const at = ({ origin }: Receiver, path: string, events?: RunCallback['events']): RunCallback => ({
  url: `${origin}${path}`,
  events,
});

it('the end of a run is told to its callback, signed by the wallet’s webhook without an address [EVT-8]', async () => {
  const receiver = await world.receiver();
  const wallet = newWallet();
  const { secret } = await world.webhooks.create(wallet, {});
  const id = await start(wallet, at(receiver, '/of-run'));
  // Neither another run of the wallet, nor another event of it.
  await end(await start(wallet));
  await world.tell(wallet);
  await end(id);
  await heard(receiver, 1);
  const [{ body, headers, path } = { body: '', headers: {}, path: '' }] = receiver.received;
  expect(path).toBe('/of-run');
  expect(verifyWebhook(body, headers, secret)).toMatchObject({
    name: 'run.completed',
    data: { run_id: id, listing_id: listing.id, status: 'completed' },
  });
});

it('a callback hears only of the events that it asks for', async () => {
  const receiver = await world.receiver();
  const wallet = newWallet();
  await world.webhooks.create(wallet, {});
  const of = (events: RunCallback['events']) => start(wallet, at(receiver, '/some', events));
  await end(await of(['run.failed', 'run.credited']));
  await end(await of(['run.failed', 'run.completed']), 'undelivered');
  await heard(receiver, 1);
  expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ name: 'run.failed' });
});

it('callbacks that hang hold the others of the wallet for one attempt at most, and make none rest', async () => {
  const [dead, receiver] = [await world.receiver(), await world.receiver()];
  dead.answer = () => undefined;
  const wallet = newWallet();
  const { id: webhookId } = await world.webhooks.create(wallet, {});
  for (let n = 0; n < 3; n += 1) await end(await start(wallet, at(dead, '/dead')));
  await heard(dead, 3);
  await end(await start(wallet, at(receiver, '/living')));
  await heard(receiver, 1);
  const { rows } = await sql<{ failing_since: Date | null }>`
    select failing_since from webhooks where id = ${webhookId}::uuid`.execute(world.database.db);
  expect(rows).toEqual([{ failing_since: null }]);
});

it('a callback is refused where nothing signs it, where it may not be called, and with events alone', async () => {
  const { require } = createCallbacks(world.database.db, world.outbound);
  const wallet = newWallet();
  const url = 'https://example.com/of-run';
  await expect(require(wallet, url)).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('POST /v1/webhooks') as string,
  });
  await world.webhooks.create(wallet, {});
  await require(wallet, url);
  await expect(require(wallet, 'https://10.0.0.1/')).rejects.toMatchObject({
    message: 'callback_url: the URL does not lead to a public address.',
  });
  const body = { agent_id: listing.id, task: 'Do it.', callback_events: ['run.failed' as const] };
  expect(() => parseOrder(loginOf(wallet), body, undefined)).toThrow('there is no callback_url');
});

it('the same key with another callback is another request', () => {
  const digestOf = (callback: object) =>
    parseOrder(loginOf('wallet'), { agent_id: listing.id, task: 'Do it.', ...callback }, 'key').digest;
  expect(digestOf({ callback_url: 'https://a.example/' })).toEqual(
    digestOf({ callback_url: 'https://a.example/' }),
  );
  expect(digestOf({ callback_url: 'https://a.example/' })).not.toEqual(
    digestOf({ callback_url: 'https://b.example/' }),
  );
});
