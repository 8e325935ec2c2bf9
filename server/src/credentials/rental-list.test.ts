import { COUNTED_FOR_TOTAL, RENTAL_MODELS } from '@agent-rental/contract';
import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import {
  insertBalance,
  insertListing,
  loginOf,
  newWallet,
  openTestDatabase,
  rowsRead,
} from '../testing/index.js';
import { accessStatus, type AccessStatus } from './access-state.js';
import { createCredentialRepository } from './repository.js';
import { createRentalList, type RentalFilter } from './rental-list.js';

const FORM = process.env['TEST_FORM'];
const CASES = FORM === 'full' ? 200 : FORM === 'sample' ? 40 : 12;
const NOW = new Date('2026-03-01T12:00:00Z');
const HOUR_MS = 3_600_000;
const PRICE = 1_000n;
const FILTERS: RentalFilter[] = [undefined, 'active', 'expired', 'low_balance', 'suspended', 'current'];

const database = await openTestDatabase();
afterAll(() => database.close());
const rentals = createRentalList(database.db);

/** A rental with everything that decides about it; ends and amounts are on both sides of every bound. */
const rental = fc.record({
  model: fc.constantFrom(...RENTAL_MODELS),
  valid: fc.boolean(),
  listing: fc.constantFrom('active', 'paused', 'suspended', 'closed', 'draft'),
  // Purchases of the same second are in an order, too.
  purchasedAtSeconds: fc.integer({ min: 0, max: 3 }),
  endsAfterMs: fc.option(
    fc.constantFrom(-24 * HOUR_MS - 1, -24 * HOUR_MS, -24 * HOUR_MS + 1, -1, 0, 1, 24 * HOUR_MS),
  ),
  balance: fc.option(
    fc.record({
      left: fc.constantFrom(0n, PRICE - 1n, PRICE, PRICE + 1n),
      most: fc.constantFrom(PRICE - 1n, PRICE, PRICE + 1n),
    }),
  ),
});
type Rental = typeof rental extends fc.Arbitrary<infer T> ? T : never;

const endOf = ({ endsAfterMs }: Rental) =>
  endsAfterMs === null ? null : new Date(NOW.getTime() + endsAfterMs);

function statusOf(held: Rental): AccessStatus {
  if (held.listing === 'draft') return 'not_found';
  return accessStatus(
    {
      listing: { status: held.listing, priceLamports: PRICE },
      credential: { valid: held.valid, rentalModel: held.model, expiresAt: endOf(held) },
      balance: held.balance
        ? { balanceLamports: held.balance.left, maxPriceLamports: held.balance.most }
        : undefined,
    },
    NOW,
  );
}

function isListed(held: Rental, filter: RentalFilter): boolean {
  const status = statusOf(held);
  if (status === 'not_found' || status === 'revoked') return false;
  if (filter === undefined) return true;
  if (filter !== 'current') return status === filter;
  if (status === 'suspended') return false;
  return status !== 'expired' || (held.endsAfterMs ?? 0) >= -24 * HOUR_MS;
}

/** Stores rentals of one wallet; gives it, and the addresses of the credentials. */
async function store(held: readonly Rental[]): Promise<{ wallet: string; addresses: string[] }> {
  const wallet = newWallet();
  const addresses: string[] = [];
  for (const { model, valid, purchasedAtSeconds, balance, ...one } of held) {
    const listing = await insertListing(database.db, {
      status: one.listing,
      price_lamports: PRICE,
      rental_model: model,
      published_at: one.listing === 'draft' ? null : NOW,
    });
    const account = { buyer: wallet, listing_address: listing.address, slot: 1n };
    const address = newWallet();
    addresses.push(address);
    await database.db
      .insertInto('credentials')
      .values({
        ...account,
        address,
        rental_model: model,
        valid,
        purchased_at: new Date(NOW.getTime() - purchasedAtSeconds * 1000),
        expires_at: endOf({ model, valid, purchasedAtSeconds, balance, ...one }),
      })
      .execute();
    if (balance === null) continue;
    const lamports = { balance_lamports: balance.left, max_price_lamports: balance.most };
    await insertBalance(database.db, wallet, listing.address, lamports);
  }
  return { wallet, addresses };
}

/** All rentals of a filter, page by page. */
async function walk(wallet: string, filter: RentalFilter, limit: number) {
  const all = [];
  for (;;) {
    const last = all.at(-1);
    const after = last && { timeUs: last.purchased_at_us, id: last.address };
    const page = await rentals.page(loginOf(wallet), filter, NOW, { limit, offset: 0, after });
    all.push(...page);
    if (page.length < limit) return all;
  }
}

it('each filter lists and counts just the rentals of which accessStatus says the same [CRD-4]', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(rental, { maxLength: 25 }),
      fc.integer({ min: 1, max: 4 }),
      async (held, limit) => {
        const { wallet, addresses } = await store(held);
        for (const filter of FILTERS) {
          const expected = new Map(
            held.flatMap((one, index) => (isListed(one, filter) ? [[addresses[index], statusOf(one)]] : [])),
          );
          const found = await walk(wallet, filter, limit);
          expect(new Map(found.map(({ address, status }) => [address, status]))).toEqual(expected);
          expect(found).toHaveLength(expected.size);
          const count = await rentals.count(loginOf(wallet), filter, NOW, { seen: 0, after: undefined });
          expect(count).toEqual({ total: expected.size, isMinimum: false });
          const times = found.map(({ purchased_at }) => purchased_at.getTime());
          expect(times).toEqual(times.toSorted((one, other) => other - one));
          const skipped = await rentals.page(loginOf(wallet), filter, NOW, { limit, offset: 2 });
          expect(skipped).toEqual(found.slice(2, 2 + limit));
        }
      },
    ),
    { numRuns: CASES },
  );
});

/** Stores so many one-time rentals of one wallet, the next of them bought an hour later; gives the wallet and the listings' ids. */
async function storeMany(count: number): Promise<{ wallet: string; newest: string }> {
  const wallet = newWallet();
  const { creator } = await insertListing(database.db);
  await sql`insert into listings (id, creator, title, description, category, rental_model, price_lamports,
      min_deposit_lamports, status, address, metadata_uri, sample_output, version_id, review_state, published_at)
    select ${wallet} || n, ${creator}, 'Agent', 'Does it.', '{}', 'one_time', 1, 0, 'paused', ${wallet} || 'listing' || n,
      '', '[]', gen_random_uuid(), 'approved', now() from generate_series(1, ${count}) n`.execute(
    database.db,
  );
  await sql`insert into credentials
    select ${wallet} || 'c' || n, ${wallet}, ${wallet} || 'listing' || n, 'one_time', true,
      ${NOW}::timestamptz - make_interval(hours => ${count} - n), null, 1 from generate_series(1, ${count}) n`.execute(
    database.db,
  );
  await sql`vacuum analyze listings, credentials, balances`.execute(database.db);
  return { wallet, newest: `${wallet}${count}` };
}

it('a page, and the access check of a run, read as much of a hundred rentals as of three thousand', async () => {
  const { pool } = database;
  const limit = 20;
  const read: { count: number; filter: RentalFilter | 'check'; rows: number | undefined }[] = [];
  for (const count of [100, 3_000]) {
    const { wallet, newest } = await storeMany(count);
    const first = await rentals.page(loginOf(wallet), undefined, NOW, { limit, offset: 0 });
    const timeUs = BigInt(NOW.getTime() - (count - 20) * HOUR_MS) * 1000n;
    for (const filter of FILTERS.filter(
      (name) => name === undefined || name === 'active' || name === 'current',
    )) {
      for (const after of [undefined, { timeUs, id: '0' }]) {
        const ofPage = await rowsRead(pool, async (db) => {
          const page = await createRentalList(db).page(loginOf(wallet), filter, NOW, {
            limit,
            offset: 0,
            after,
          });
          expect(page).toHaveLength(after === undefined ? limit : 19);
        });
        read.push({ count, filter, rows: ofPage.get('credentials') });
      }
    }
    expect(first[0]?.listing_id).toBe(newest);
    const ofCheck = await rowsRead(pool, async (db) => {
      expect(await createCredentialRepository(db).findRental(wallet, newest)).toMatchObject({ valid: true });
    });
    read.push({ count, filter: 'check', rows: ofCheck.get('credentials') });
  }
  const ofCount = (wanted: number) => read.filter(({ count }) => count === wanted).map(({ rows }) => rows);
  expect(ofCount(3_000)).toEqual(ofCount(100));
  expect(Math.max(...ofCount(3_000).map(Number))).toBeLessThanOrEqual(limit);
});

it('looks at a bounded number of rentals to count a list, and at none twice', async () => {
  const looked = COUNTED_FOR_TOTAL.rentals;
  const { wallet } = await storeMany(looked + 100);
  const fromStart = { seen: 0, after: undefined };
  expect(await rentals.count(loginOf(wallet), 'current', NOW, fromStart)).toEqual({
    total: looked,
    isMinimum: true,
  });
  // None of them is in this list, and a row that was not read may be.
  expect(await rentals.count(loginOf(wallet), 'expired', NOW, fromStart)).toEqual({
    total: 0,
    isMinimum: true,
  });
  const [last] = await rentals.page(loginOf(wallet), undefined, NOW, { limit: 1, offset: 49 });
  const after = { timeUs: last?.purchased_at_us ?? 0n, id: last?.address ?? '' };
  for (const filter of FILTERS) {
    for (const [shown, most] of [
      [fromStart, looked],
      [{ seen: 50, after }, looked - 50],
    ] as const) {
      const read = await rowsRead(database.pool, (db) =>
        createRentalList(db).count(loginOf(wallet), filter, NOW, shown),
      );
      expect(read.get('credentials')).toBe(most);
    }
  }
  for (const seen of [50, looked]) {
    const count = await rentals.count(loginOf(wallet), 'current', NOW, { seen, after });
    expect(count).toEqual({ total: looked, isMinimum: true });
  }
});

it('the total of a list does not depend on where its page ends', async () => {
  const stored = COUNTED_FOR_TOTAL.rentals - 50;
  const { wallet } = await storeMany(stored);
  for (const limit of [1, 20, 50, stored - 1]) {
    const page = await rentals.page(loginOf(wallet), undefined, NOW, { limit, offset: 0 });
    const last = page.at(-1);
    const after = { timeUs: last?.purchased_at_us ?? 0n, id: last?.address ?? '' };
    const count = await rentals.count(loginOf(wallet), undefined, NOW, { seen: limit, after });
    expect(count).toEqual({ total: stored, isMinimum: false });
  }
});
