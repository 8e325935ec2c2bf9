import { randomUUID } from 'node:crypto';
import { MAX_WEBHOOKS } from '@agent-rental/contract';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newWallet } from '../../testing/index.js';
import { newWebhook, openWebhookWorld, type Receiver, type WebhookWorld } from './receiver.test-support.js';

let world: WebhookWorld;
let receiver: Receiver;
beforeAll(async () => {
  world = await openWebhookWorld();
  receiver = await world.receiver();
});
afterAll(() => world.close());

const refused = (told: string) => ({
  code: 'invalid_request',
  message: expect.stringContaining(told) as string,
});
const unknown = { code: 'not_found' };

describe('a webhook', () => {
  it('is listed, changed and removed by its wallet, and shows its secret once', async () => {
    const { webhooks } = world;
    const { wallet, secret, ...made } = await newWebhook(world, receiver);
    expect(secret).toMatch(/^whsec_[\w+/]{32}=*$/);
    expect(await webhooks.list(wallet)).toEqual([made]);
    const { rows } = await sql<{ stored: string }>`
      select w::text || encode(sealed_secrets, 'escape') as stored from webhooks w where id = ${made.id}::uuid`.execute(
      world.database.db,
    );
    expect(rows[0]?.stored).not.toContain(secret.slice('whsec_'.length));
    const changed = await webhooks.update(wallet, made.id, { events: ['run.failed'] });
    expect(changed).toEqual({ ...made, events: ['run.failed'] });
    expect(await webhooks.update(wallet, made.id, {})).toEqual(changed);
    expect(await webhooks.update(wallet, made.id, { events: null })).toEqual(made);
    const paused = await webhooks.update(wallet, made.id, { paused: true });
    expect(paused.paused_at).toBeDefined();
    expect(await webhooks.update(wallet, made.id, { paused: true })).toEqual(paused);
    expect(await webhooks.update(wallet, made.id, { paused: false })).toEqual(made);
    expect(await webhooks.remove(wallet, made.id)).toEqual(made);
    expect(await webhooks.list(wallet)).toEqual([]);
  });

  it('forgets its failures when it is resumed, or gets another address', async () => {
    const { webhooks } = world;
    const { wallet, id } = await newWebhook(world, receiver);
    const fail = () =>
      sql`update webhooks set failures = 3, failing_since = now(), paused_at = now(),
        rests_until = now() + interval '1 hour' where id = ${id}::uuid`.execute(world.database.db);
    const state = async () =>
      (
        await sql`select failures, failing_since, rests_until <= now() as is_ready from webhooks where id = ${id}::uuid`.execute(
          world.database.db,
        )
      ).rows[0];
    const healthy = { failures: 0, failing_since: null, is_ready: true };
    await fail();
    await webhooks.update(wallet, id, { events: ['run.failed'] });
    expect(await state()).toMatchObject({ failures: 3 });
    await webhooks.update(wallet, id, { paused: false });
    expect(await state()).toEqual(healthy);
    await fail();
    const moved = await webhooks.update(wallet, id, { url: `${receiver.origin}/other` });
    expect(moved).toMatchObject({ url: `${receiver.origin}/other`, paused_at: expect.any(String) as string });
    expect(await state()).toEqual(healthy);
  });

  it.each([
    ['http://example.com/hook', 'url: only https'],
    ['https://127.0.0.1/hook', 'url: the URL does not lead to a public address'],
    ['https://me:secret@example.com/', 'url: the URL carries credentials'],
  ])('is refused the address %s', async (url, told) => {
    const { wallet, id } = await newWebhook(world, receiver);
    await expect(world.webhooks.create(wallet, { url })).rejects.toMatchObject(refused(told));
    await expect(world.webhooks.update(wallet, id, { url })).rejects.toMatchObject(refused(told));
  });

  it(`is one of at most ${MAX_WEBHOOKS}, also of many made at once`, async () => {
    const wallet = newWallet();
    const made = await Promise.allSettled(
      Array.from({ length: MAX_WEBHOOKS + 3 }, (_, n) =>
        world.webhooks.create(wallet, { url: `${receiver.origin}/${n}` }),
      ),
    );
    const failed = made.filter(({ status }) => status === 'rejected');
    expect(failed).toEqual(
      Array.from({ length: 3 }, () => ({
        status: 'rejected',
        reason: expect.objectContaining(refused(`${MAX_WEBHOOKS} webhooks`)) as object,
      })),
    );
    expect(await world.webhooks.list(wallet)).toHaveLength(MAX_WEBHOOKS);
  });

  it('without an address is one, and has neither address, events nor a test', async () => {
    const { webhooks } = world;
    const wallet = newWallet();
    const { id } = await webhooks.create(wallet, {});
    const url = `${receiver.origin}/hook`;
    await expect(webhooks.create(wallet, {})).rejects.toMatchObject(refused('without url already'));
    await expect(webhooks.update(wallet, id, { url })).rejects.toMatchObject(refused('has no address'));
    await expect(webhooks.update(wallet, id, { events: ['run.failed'] })).rejects.toMatchObject(
      refused('no events'),
    );
    await expect(webhooks.create(newWallet(), { events: ['run.failed'] })).rejects.toMatchObject(
      refused('no events'),
    );
    await expect(webhooks.test(wallet, id)).rejects.toMatchObject(refused('has no address'));
  });

  it('is not there for another wallet', async () => {
    const { webhooks, deliveries } = world;
    const { wallet, id } = await newWebhook(world, receiver);
    const eventId = await world.tell(wallet);
    const strangers = newWallet();
    const calls = (who: string, which: string) => [
      () => webhooks.update(who, which, { paused: true }),
      () => webhooks.remove(who, which),
      () => webhooks.rotate(who, which),
      () => webhooks.test(who, which),
      () => deliveries.list(who, which, { limit: 1 }),
      () => deliveries.redeliver(who, which, eventId),
    ];
    const all = [...calls(strangers, id), ...calls(wallet, randomUUID()), ...calls(wallet, 'no id')];
    for (const call of all) await expect(call()).rejects.toMatchObject(unknown);
    await expect(deliveries.redeliver(wallet, id, randomUUID())).rejects.toMatchObject(unknown);
    expect(await webhooks.list(strangers)).toEqual([]);
  });
});

describe('the deliveries of a webhook', () => {
  it('are listed newest first, in pages that follow each other', async () => {
    const { wallet, id } = await newWebhook(world, receiver);
    const told: string[] = [];
    for (let n = 0; n < 5; n += 1) told.unshift(await world.tell(wallet));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await world.deliveries.list(wallet, id, { limit: 2, cursor });
      seen.push(...page.deliveries.map((delivery) => delivery.event_id));
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(told);
    const { deliveries } = await world.deliveries.list(wallet, id, { limit: 1 });
    expect(deliveries[0]).toMatchObject({ name: 'key.created', status: 'pending', attempts: [] });
    await expect(world.deliveries.list(wallet, id, { limit: 1, cursor: 'x' })).rejects.toMatchObject(
      refused('cursor'),
    );
  });

  it('are of the events that it asks for, and of none while it is paused', async () => {
    const { wallet, id } = await newWebhook(world, receiver);
    const count = async () => (await world.deliveries.list(wallet, id, { limit: 10 })).deliveries.length;
    await world.webhooks.update(wallet, id, { events: ['run.failed'] });
    await world.tell(wallet);
    await world.webhooks.update(wallet, id, { events: ['key.created'], paused: true });
    const eventId = await world.tell(wallet);
    expect(await count()).toBe(0);
    await world.webhooks.update(wallet, id, { paused: false });
    await world.tell(wallet);
    expect(await count()).toBe(1);
    await world.webhooks.update(wallet, id, { paused: true });
    await expect(world.deliveries.redeliver(wallet, id, eventId)).rejects.toMatchObject(refused('is paused'));
  });
});
