import { EVENTS, type EventName } from '@agent-rental/contract';
import { sql } from 'kysely';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  insertBalance,
  insertListing,
  insertRun,
  loginOf,
  newKeyOf,
  newWallet,
  openTestDatabase,
  type TemporaryDatabase,
} from '../testing/index.js';
import { createApiKeys } from '../identity/index.js';
import { appendEvent } from './append-event.js';
import { removeOldEvents, tellEndingRentals } from './event-jobs.js';
import { readEvents } from './read-events.js';
import { readEventSettings, setEventSettings } from './settings.js';

let database: TemporaryDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const read = (wallet: string, asked: { after?: string; types?: EventName[] } = {}) =>
  readEvents(database.db, loginOf(wallet), { limit: 100, ...asked });
/** Names of a wallet's events; each has the data that the contract declares. */
async function namesOf(wallet: string): Promise<string[]> {
  const events = (await read(wallet)).map(({ event }) => event);
  for (const { name, data } of events) EVENTS[name].data.parse(data);
  return events.map(({ name }) => name);
}
const key = { key_id: randomUUID(), label: 'ci', scopes: ['run'] };
const insertRental = (buyer: string, listing: { address: string }, expiresInDays?: number) =>
  database.db
    .insertInto('credentials')
    .values({
      address: newWallet(),
      buyer,
      listing_address: listing.address,
      rental_model: expiresInDays === undefined ? 'one_time' : 'subscription',
      valid: true,
      purchased_at: new Date(),
      expires_at: expiresInDays === undefined ? null : new Date(Date.now() + expiresInDays * 24 * 3_600_000),
      slot: 1n,
    })
    .execute();

describe('an event', () => {
  it('is there once for a committed change, and never for one that was rolled back', async () => {
    const { db } = database;
    const [wallet, listing] = [newWallet(), await insertListing(db)];
    const runId = await insertRun(db, listing, wallet);
    const end = (tx: Pick<typeof db, 'updateTable'>) =>
      tx.updateTable('runs').set({ status: 'completed' }).where('id', '=', runId).execute();
    await db
      .transaction()
      .execute(async (tx) => {
        await end(tx);
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    expect(await namesOf(wallet)).toEqual([]);
    await end(db);
    await end(db);
    expect(await namesOf(wallet)).toEqual(['run.completed']);
  });

  it('is not skipped when an older transaction commits after a newer one [EVT-3]', async () => {
    const { db } = database;
    const wallet = newWallet();
    const append = (subject: string, tx: Parameters<typeof appendEvent>[0]) =>
      appendEvent(tx, { wallet, name: 'key.created', subject, data: key });
    const subjects = (events: Awaited<ReturnType<typeof read>>) => events.map(({ event }) => event.subject);
    const newer = await db.transaction().execute(async (older) => {
      await append('key:older', older);
      await db.transaction().execute((tx) => append('key:newer', tx));
      return read(wallet);
    });
    expect(subjects(newer)).toEqual(['key:newer']);
    expect(subjects(await read(wallet, { after: newer[0]?.cursor ?? '' }))).toEqual(['key:older']);
    expect(subjects(await read(wallet))).toEqual(['key:newer', 'key:older']);
  });

  it('comes after a cursor given out before a backup was restored [EVT-3]', async () => {
    const { db } = database;
    const wallet = newWallet();
    const append = (subject: string) =>
      db.transaction().execute((tx) => appendEvent(tx, { wallet, name: 'key.created', subject, data: key }));
    await append('key:lost');
    const [lost] = await read(wallet);
    // As after a restore of a backup from before the event: the row and the counter are older.
    await db.deleteFrom('events').where('wallet', '=', wallet).execute();
    await sql`alter table events alter column added restart with 1`.execute(db);
    await append('key:new');
    const after = await read(wallet, { after: lost?.cursor ?? '' });
    expect(after.map(({ event }) => event.subject)).toEqual(['key:new']);
  });

  it('has one place, however many read at once', async () => {
    const { db } = database;
    const wallet = newWallet();
    const append = (n: number) =>
      db
        .transaction()
        .execute((tx) => appendEvent(tx, { wallet, name: 'key.created', subject: `key:${n}`, data: key }));
    const seen: string[][] = [];
    for (let n = 0; n < 40; n += 4) {
      const reads = await Promise.all([0, 1, 2, 3].map(async (m) => (await append(n + m), read(wallet))));
      seen.push(...reads.map((events) => events.map(({ cursor }) => cursor)));
    }
    const all = (await read(wallet)).map(({ cursor }) => cursor);
    expect(new Set(all).size).toBe(40);
    for (const cursors of seen) expect(cursors).toEqual(all.slice(0, cursors.length));
  });

  it('is numbered by its subject, and removed after 30 days', async () => {
    const { db } = database;
    const wallet = newWallet();
    for (const subject of ['key:a', 'key:b', 'key:a']) {
      await db
        .transaction()
        .execute((tx) => appendEvent(tx, { wallet, name: 'key.created', subject, data: key }));
    }
    expect((await read(wallet)).map(({ event }) => [event.subject, event.sequence])).toEqual([
      ['key:a', 1],
      ['key:b', 1],
      ['key:a', 2],
    ]);
    const old = sql<Date>`now() - interval '31 days'`;
    await db
      .updateTable('events')
      .set({ created_at: old })
      .where('wallet', '=', wallet)
      .where('subject', '=', 'key:a')
      .execute();
    await removeOldEvents(db);
    expect((await read(wallet)).map(({ event }) => event.subject)).toEqual(['key:b']);
  });
});

describe('who hears', () => {
  it('a key hears of its runs and the rentals of its policy, and of nothing else', async () => {
    const { db } = database;
    const wallet = newWallet();
    const [allowed, other] = [await insertListing(db), await insertListing(db)];
    const owner = newKeyOf(wallet, { listing_ids: [allowed.id] });
    await createApiKeys(db, 'devnet').create(wallet, { label: 'ci' });
    for (const apiKeyId of [owner.apiKeyId, randomUUID()]) {
      const runId = await insertRun(db, allowed, wallet);
      await db
        .updateTable('runs')
        .set({ api_key_id: apiKeyId ?? null })
        .where('id', '=', runId)
        .execute();
      await db.updateTable('runs').set({ status: 'undelivered' }).where('id', '=', runId).execute();
    }
    await insertRental(wallet, allowed);
    await insertRental(wallet, other);
    const heard = await readEvents(db, owner, { limit: 100 });
    expect(heard.map(({ event }) => [event.name, event.data])).toEqual([
      ['run.failed', expect.anything()],
      ['rental.created', expect.objectContaining({ listing_id: allowed.id })],
    ]);
    expect(await namesOf(wallet)).toEqual(
      expect.arrayContaining(['key.created', 'run.failed', 'rental.created']),
    );
    expect(await namesOf(newWallet())).toEqual([]);
    expect(await namesOf(allowed.creator)).toEqual(['rental.sold']);
  });
});

describe('rentals', () => {
  it('tell of a low and an empty balance once each as it falls', async () => {
    const { db } = database;
    const [wallet, listing] = [newWallet(), await insertListing(db, { price_lamports: 100n })];
    const address = await insertBalance(db, wallet, listing.address, { balance_lamports: 2_000n });
    for (const balance of [1_000n, 999n, 500n, 100n, 99n, 0n]) {
      await db
        .updateTable('balances')
        .set({ balance_lamports: balance })
        .where('address', '=', address)
        .execute();
    }
    expect(await namesOf(wallet)).toEqual(['balance.low', 'balance.empty']);
  });

  it('tell of a balance below the number of runs that its wallet has set', async () => {
    const { db } = database;
    const listing = await insertListing(db, { price_lamports: 100n });
    const told = async (runs: number, ...balances: bigint[]) => {
      const wallet = newWallet();
      await setEventSettings(db, wallet, { low_balance_runs: 500 });
      await setEventSettings(db, wallet, { low_balance_runs: runs });
      expect(await readEventSettings(db, wallet)).toEqual({ low_balance_runs: runs });
      const address = await insertBalance(db, wallet, listing.address, { balance_lamports: 9_000n });
      for (const balance of balances)
        await db
          .updateTable('balances')
          .set({ balance_lamports: balance })
          .where('address', '=', address)
          .execute();
      return namesOf(wallet);
    };
    expect(await told(25, 2_500n)).toEqual([]);
    expect(await told(25, 2_499n, 999n)).toEqual(['balance.low']);
    expect(await told(1, 100n, 99n)).toEqual(['balance.empty']);
    expect(await readEventSettings(db, newWallet())).toEqual({ low_balance_runs: 10 });
  });

  it('tell of their end 7 days and 1 day before, and after it, once each', async () => {
    const { db } = database;
    const listing = await insertListing(db, { rental_model: 'subscription' });
    const told = async (days: number) => {
      const wallet = newWallet();
      await insertRental(wallet, listing, days);
      await tellEndingRentals(db);
      await tellEndingRentals(db);
      return (await read(wallet)).map(({ event }) => [event.name, Object(event.data).days]).slice(1);
    };
    expect(await told(8)).toEqual([]);
    expect(await told(6)).toEqual([['rental.expiring', 7]]);
    expect(await told(0.5)).toEqual([['rental.expiring', 1]]);
    expect(await told(-0.5)).toEqual([['rental.expired', undefined]]);
  });

  it('tell of many ends in several transactions, each end once', async () => {
    const { db } = database;
    const listing = await insertListing(db, { rental_model: 'subscription' });
    const wallets = Array.from({ length: 5 }, newWallet);
    for (const wallet of wallets) await insertRental(wallet, listing, 3);
    await tellEndingRentals(db, 2);
    await tellEndingRentals(db, 2);
    const { rows } = await sql<{ transactions: bigint }>`select count(distinct xmin::text) as transactions
      from events where name = 'rental.expiring' and wallet = any (${wallets}::text[])`.execute(db);
    expect(Number(rows[0]?.transactions)).toBe(3);
    for (const wallet of wallets)
      expect(await namesOf(wallet)).toEqual(['rental.created', 'rental.expiring']);
  });

  it('tell each renter, whose rental has not ended, of changes of the listing', async () => {
    const { db } = database;
    const listing = await insertListing(db);
    const [renter, former] = [newWallet(), newWallet()];
    await insertRental(renter, listing);
    await insertRental(former, listing, -2);
    const change = (fields: object) =>
      db.updateTable('listings').set(fields).where('id', '=', listing.id).execute();
    await change({ price_lamports: 5n });
    await change({ status: 'paused' });
    await change({ status: 'active' });
    await change({ status: 'closed' });
    await change({ failing_since: new Date() });
    await change({ failing_since: null });
    await change({ review_state: 'pending' });
    await change({ review_state: 'rejected' });
    expect(await namesOf(renter)).toEqual([
      'rental.created',
      'price.changed',
      'listing.paused',
      'listing.closed',
    ]);
    expect(await namesOf(former)).toEqual(['rental.created']);
    expect(await namesOf(listing.creator)).toEqual([
      'rental.sold',
      'rental.sold',
      'agent.failing',
      'agent.recovered',
      'listing.rejected',
    ]);
  });
});
