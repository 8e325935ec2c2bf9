import { randomUUID } from 'node:crypto';
import type { SpendingPolicy } from '@agent-rental/contract';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ApiError } from '../errors/api-error.js';
import { openDatabase } from '../database/connection.js';
import {
  insertListing,
  insertRun,
  newWallet,
  openTestDatabase,
  type TemporaryDatabase,
} from '../testing/index.js';
import { createApiKeys } from '../identity/index.js';
import { createSpending, type Allowance, type Spend } from './allowance.js';

let database: TemporaryDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

/** Nothing here asks. */
const NO_APPROVALS = {} as Parameters<typeof createSpending>[1];

/** The allowance of a fresh key with this policy, as seen by one or more replicas. */
async function keyWith(policy: SpendingPolicy | undefined, replicas = [database.db]): Promise<Allowance[]> {
  const wallet = newWallet();
  const { id } = await createApiKeys(database.db, 'devnet').create(wallet, {
    label: 'ci',
    ...(policy ? { policy } : {}),
  });
  const principal = {
    wallet,
    rateKey: `key:${id}`,
    apiKey: { id, scopes: ['run', 'rent'] as const, policy: policy ?? null },
  };
  return replicas.map((db) => createSpending(db, NO_APPROVALS).allowanceOf(principal));
}

async function only(policy: SpendingPolicy | undefined): Promise<Allowance> {
  const [allowance] = await keyWith(policy);
  if (!allowance) throw new Error('no allowance');
  return allowance;
}

const spend = (lamports: bigint, kind: Spend['kind'] = 'run'): Spend => ({
  id: randomUUID(),
  kind,
  lamports,
});

/** The rule that refuses with a 403, or `null`. */
async function ruleOf(attempt: (() => void) | Promise<unknown>): Promise<unknown> {
  try {
    await (typeof attempt === 'function' ? attempt() : attempt);
    return null;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 403) throw error;
    return error.policyRule;
  }
}

describe('a key', () => {
  it('without a policy, or with an empty one, may do all that its wallet may', async () => {
    for (const policy of [undefined, {}]) {
      const allowance = await only(policy);
      expect(await ruleOf(() => allowance.requireRental('a-bbbbbb'))).toBeNull();
      expect(await ruleOf(allowance.reserve(spend(10n ** 15n)))).toBeNull();
      expect(await ruleOf(allowance.reserve(spend(10n ** 15n, 'rental')))).toBeNull();
    }
  });

  it('with listings may touch no other', async () => {
    const allowance = await only({ listing_ids: ['a-bbbbbb'] });
    expect(await ruleOf(() => allowance.requireRental('a-bbbbbb'))).toBeNull();
    expect(await ruleOf(() => allowance.requireRental('a-cccccc'))).toBe('listing_ids');
    expect(await ruleOf(() => allowance.requireRental('')), 'a listing that is not known').toBe(
      'listing_ids',
    );
    const none = await only({ listing_ids: [] });
    expect(await ruleOf(() => none.requireRental('a-bbbbbb'))).toBe('listing_ids');
  });

  it('that may not rent may still run', async () => {
    const allowance = await only({ can_rent: false });
    expect(await ruleOf(() => allowance.requireRental('a-bbbbbb'))).toBe('can_rent');
    expect(await ruleOf(allowance.reserve(spend(1n)))).toBeNull();
  });

  it('pays for no run above its limit, and rents at any price', async () => {
    const allowance = await only({ max_run_lamports: 100 });
    expect(await ruleOf(allowance.reserve(spend(100n)))).toBeNull();
    expect(await ruleOf(allowance.reserve(spend(101n)))).toBe('max_run_lamports');
    expect(await ruleOf(allowance.requireRoom({ kind: 'run', lamports: 101n }))).toBe('max_run_lamports');
    expect(await ruleOf(allowance.reserve(spend(101n, 'rental')))).toBeNull();
  });

  it('spends its day to the last lamport, runs and rentals apart', async () => {
    const allowance = await only({ max_day_lamports: 100 });
    expect(await ruleOf(allowance.reserve(spend(60n)))).toBeNull();
    expect(await ruleOf(allowance.reserve(spend(41n)))).toBe('max_day_lamports');
    expect(await ruleOf(allowance.reserve(spend(40n)))).toBeNull();
    expect(await ruleOf(allowance.reserve(spend(1n)))).toBe('max_day_lamports');
    expect(await ruleOf(allowance.requireRoom({ kind: 'rental', lamports: 101n }))).toBe('max_day_lamports');
    expect(await ruleOf(allowance.reserve(spend(100n, 'rental')))).toBeNull();
    expect(await ruleOf(allowance.reserve(spend(1n, 'rental')))).toBe('max_day_lamports');
  });

  it('counts a spend once, and one that did not happen not at all', async () => {
    const allowance = await only({ max_day_lamports: 100 });
    const rental = spend(100n, 'rental');
    await allowance.reserve(rental);
    expect(await ruleOf(allowance.reserve(rental))).toBeNull();
    expect(await ruleOf(allowance.reserve(spend(1n, 'rental')))).toBe('max_day_lamports');
    await allowance.releaseReservation(rental.id);
    expect(await ruleOf(allowance.reserve(spend(100n, 'rental')))).toBeNull();
  });

  it('does not count a run whose charge failed or was lost, or whose process ended before it was charged [MON-3]', async () => {
    const { db } = database;
    const listing = await insertListing(db);
    const allowance = await only({ max_day_lamports: 100 });
    const isFull = async () => (await ruleOf(allowance.requireRoom({ kind: 'run', lamports: 1n }))) !== null;
    for (const ends of ['failed', 'lost', 'uncharged'] as const) {
      const wallet = newWallet();
      const id = await insertRun(db, listing, wallet);
      await db
        .insertInto('charges')
        .values({
          run_id: id,
          wallet,
          listing_id: listing.id,
          balance_address: newWallet(),
          price_lamports: 100n,
          sequence: 1n,
          state: 'reserved',
          failure_code: null,
        })
        .execute();
      await allowance.reserve({ id, kind: 'run', lamports: 100n });
      const charges = db.updateTable('charges').where('run_id', '=', id);
      for (const state of ['signed', 'confirmed', 'finalized', 'credited'] as const) {
        await charges.set({ state }).execute();
        expect([state, await isFull()]).toEqual([state, true]);
      }
      if (ends === 'uncharged') {
        await db.deleteFrom('charges').where('run_id', '=', id).execute();
        await db.updateTable('runs').set({ status: 'undelivered' }).where('id', '=', id).execute();
      } else {
        await charges.set({ state: ends }).execute();
      }
      expect([ends, await isFull()]).toEqual([ends, false]);
    }
  });

  it('has a new day after 24 hours, and the old one is forgotten', async () => {
    const allowance = await only({ max_day_lamports: 100 });
    const first = spend(100n);
    await allowance.reserve(first);
    const age = (hours: number) =>
      database.db
        .updateTable('api_key_spends')
        .set({ created_at: new Date(Date.now() - hours * 3_600_000) })
        .where('id', '=', first.id)
        .execute();
    await age(23);
    expect(await ruleOf(allowance.reserve(spend(1n)))).toBe('max_day_lamports');
    await age(25);
    expect(await ruleOf(allowance.reserve(spend(100n)))).toBeNull();
    const kept = await database.db
      .selectFrom('api_key_spends')
      .select('id')
      .where('id', '=', first.id)
      .execute();
    expect(kept).toEqual([]);
  });

  it('does not spend the day of another', async () => {
    const [one, other] = [await only({ max_day_lamports: 100 }), await only({ max_day_lamports: 100 })];
    const first = spend(100n);
    await one.reserve(first);
    await other.releaseReservation(first.id);
    expect(await ruleOf(other.reserve(spend(100n)))).toBeNull();
    expect(await ruleOf(one.reserve(spend(1n)))).toBe('max_day_lamports');
  });

  it('spends no more than its day however many ask at once on two replicas', async () => {
    const replica = openDatabase(database.url, () => undefined);
    onTestFinished(() => replica.close());
    const allowances = await keyWith({ max_day_lamports: 100 }, [database.db, replica.db]);
    const rules = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        ruleOf(allowances[index % 2]?.reserve(spend(10n)) ?? (() => {})),
      ),
    );
    expect(rules.filter((rule) => rule === null)).toHaveLength(10);
    expect(rules.filter((rule) => rule === 'max_day_lamports')).toHaveLength(30);
  });
});

it('tells what counts against the daily limits of keys now, as the limit itself counts it [SVC-31]', async () => {
  const wallet = newWallet();
  const { id } = await createApiKeys(database.db, 'devnet').create(wallet, {
    label: 'ci',
    policy: { max_day_lamports: 10 },
  });
  const spending = createSpending(database.db, NO_APPROVALS);
  const policy = { max_day_lamports: 10 };
  const allowance = spending.allowanceOf({ wallet, rateKey: id, apiKey: { id, scopes: ['run'], policy } });
  expect(await spending.spentToday([id])).toEqual(new Map());
  expect(await spending.spentToday([])).toEqual(new Map());
  await allowance.reserve(spend(3n));
  await allowance.reserve(spend(4n));
  await allowance.reserve(spend(5n, 'rental'));
  const taken = spend(1n);
  await allowance.reserve(taken);
  await allowance.releaseReservation(taken.id);
  expect(await spending.spentToday([id, randomUUID()])).toEqual(new Map([[id, { run: 7n, rental: 5n }]]));
  // So much is left, and no lamport more.
  expect(await ruleOf(allowance.requireRoom({ kind: 'run', lamports: 4n }))).toBe('max_day_lamports');
  expect(await ruleOf(allowance.requireRoom({ kind: 'run', lamports: 3n }))).toBeNull();
});
