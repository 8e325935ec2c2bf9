import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import {
  insertCharge,
  insertListing,
  loginOf,
  newWallet,
  openTestDatabase,
  rowsRead,
} from '../../testing/index.js';
import { createCreatorEarnings } from './creator-earnings.js';

const FORM = process.env['TEST_FORM'];
const CASES = FORM === 'full' ? 300 : FORM === 'sample' ? 60 : 20;
const PUBLISHED = new Date('2026-01-01T00:00:00Z');

const database = await openTestDatabase();
afterAll(() => database.close());
const earnings = createCreatorEarnings(database.db);

/** The sums of the rows of escrows, charges and listings. */
async function addedUp(creator: string) {
  const rows = await earnings.page(loginOf(creator), { limit: 1_000, offset: 0 });
  const sumOf = (name: 'earned' | 'withdrawable' | 'pending') =>
    rows.reduce((sum, row) => sum + row[name], 0n);
  return {
    listingCount: rows.length,
    earned: sumOf('earned'),
    withdrawable: sumOf('withdrawable'),
    pending: sumOf('pending'),
  };
}

const lamports = fc.bigInt({ min: 0n, max: 10n ** 15n });
const listing = fc.nat({ max: 3 });
/** Something that the index or registration does to a listing, by its number. */
const change = fc.oneof(
  fc.record({ kind: fc.constant('escrow' as const), listing, earned: lamports, withdrawable: lamports }),
  fc.record({ kind: fc.constant('no escrow' as const), listing }),
  fc.record({
    kind: fc.constant('status' as const),
    listing,
    status: fc.constantFrom('active', 'paused', 'closed'),
  }),
  // A fork dropped the publication, and with it the escrow.
  fc.record({ kind: fc.constant('draft' as const), listing }),
);
/** A listing goes to another creator, in a separate transaction. */
const move = fc.record({ kind: fc.constant('moves' as const), listing, to: fc.nat({ max: 1 }) });
const transaction = fc.oneof(
  { weight: 4, arbitrary: fc.array(change, { minLength: 1, maxLength: 3 }) },
  { weight: 1, arbitrary: fc.tuple(move) },
);

it('the kept sums agree with the escrows to the lamport, whatever happens to listings and escrows [TXN-1]', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(transaction, { maxLength: 15 }), async (transactions) => {
      const creators = [newWallet(), newWallet()];
      const listings: Awaited<ReturnType<typeof insertListing>>[] = [];
      for (const creator of [0, 0, 0, 1]) {
        const draft = { creator: creators[creator]!, status: 'draft', published_at: null } as const;
        listings.push(await insertListing(database.db, draft));
      }
      await insertListing(database.db, { creator: creators[1]! });
      await database.db
        .insertInto('creators')
        .values(creators.map((wallet) => ({ wallet, display_name: null })))
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      for (const changes of transactions) {
        await database.db.transaction().execute(async (tx) => {
          for (const one of changes) {
            const { id, address } = listings[one.listing]!;
            const ofListing = tx.updateTable('listings').where('id', '=', id);
            const ofEscrow = tx.deleteFrom('escrows').where('listing_address', '=', address);
            switch (one.kind) {
              case 'escrow': {
                const amounts = { earnings_lamports: one.withdrawable, total_earned_lamports: one.earned };
                await ofListing.set({ status: 'active', published_at: PUBLISHED }).execute();
                await tx
                  .insertInto('escrows')
                  .values({ address: `escrow ${id}`, listing_address: address, slot: 1n, ...amounts })
                  .onConflict((conflict) => conflict.column('address').doUpdateSet(amounts))
                  .execute();
                break;
              }
              case 'no escrow':
                await ofEscrow.execute();
                break;
              case 'status':
                await ofListing.set({ status: one.status as 'active', published_at: PUBLISHED }).execute();
                break;
              case 'draft':
                await ofEscrow.execute();
                await ofListing.set({ status: 'draft', published_at: null }).execute();
                break;
              case 'moves':
                await ofListing.set({ creator: creators[one.to]! }).execute();
                break;
              default:
                one satisfies never;
            }
          }
        });
      }
      for (const creator of creators)
        expect(await earnings.sum(loginOf(creator))).toEqual(await addedUp(creator));
    }),
    { numRuns: CASES },
  );
});

it('the sums of changes that meet are complete', async () => {
  const creator = newWallet();
  const many = [];
  for (let index = 0; index < 8; index += 1) many.push(await insertListing(database.db, { creator }));
  const add = async (addresses: string[]) =>
    database.db.transaction().execute(async (tx) => {
      for (const address of addresses) {
        await sql`insert into escrows values (${`of ${address}`}, ${address}, 3, 5, 1)
          on conflict (address) do update set earnings_lamports = escrows.earnings_lamports + 3,
            total_earned_lamports = escrows.total_earned_lamports + 5`.execute(tx);
      }
    });
  const addresses = many.map(({ address }) => address).toSorted();
  // Each transaction takes the escrows in their order, as the index does.
  await Promise.all(
    Array.from({ length: 40 }, (_, index) => add(addresses.filter((_, at) => (at + index) % 3 > 0))),
  );
  expect(await earnings.sum(loginOf(creator))).toEqual(await addedUp(creator));
  expect((await earnings.sum(loginOf(creator))).earned).toBeGreaterThan(0n);
});

it('a sum and a page read as much for a creator of three thousand listings as of one thousand, and pending charges', async () => {
  for (const count of [1_000, 3_000]) {
    const creator = newWallet();
    const first = await insertListing(database.db, { creator });
    await sql`insert into listings (id, creator, title, description, category, rental_model, price_lamports,
        min_deposit_lamports, status, address, metadata_uri, sample_output, version_id, review_state, published_at)
      select ${creator} || n, ${creator}, 'Agent', 'Does it.', '{}', 'one_time', 1, 0, 'paused', ${creator} || n,
        '', '[]', gen_random_uuid(), 'approved', ${PUBLISHED}::timestamptz + n * interval '1 microsecond'
      from generate_series(2, ${count}) n`.execute(database.db);
    await sql`insert into escrows select 'e' || address, address, 1, 2, 1 from listings where creator = ${creator}`.execute(
      database.db,
    );
    await insertCharge(database.db, first, 'signed', { priceLamports: 7n });
    await sql`vacuum analyze listings, escrows, charges, creator_earnings`.execute(database.db);
    expect(await earnings.sum(loginOf(creator))).toEqual({
      listingCount: count,
      earned: BigInt(2 * count),
      withdrawable: BigInt(count),
      pending: 7n,
    });
    const page = await earnings.page(loginOf(creator), { limit: 30, offset: 0 });
    const last = page.at(-1)!;
    const after = { timeUs: last.published_at_us, id: last.id };
    expect(
      (await earnings.page(loginOf(creator), { limit: 5, offset: 0, after })).map(({ id }) => id),
    ).toEqual((await earnings.page(loginOf(creator), { limit: 5, offset: 30 })).map(({ id }) => id));
    const ofPage = await rowsRead(database.pool, (db) =>
      createCreatorEarnings(db).page(loginOf(creator), { limit: 20, offset: 0, after }),
    );
    expect(Object.fromEntries(ofPage)).toMatchObject({ listings: 20, escrows: 20 });
    // The sum looks up the listings of charges on their way, whose number is not this creator's.
    const ofSum = await rowsRead(database.pool, (db) => createCreatorEarnings(db).sum(loginOf(creator)));
    expect(ofSum.get('listings')).toBeLessThanOrEqual(2);
    expect([ofSum.get('escrows'), ofSum.get('creator_earnings')]).toEqual([undefined, 1]);
  }
});

it('earnings of a listing are counted in their hour and day, by each change of its escrow after the first [SVC-30]', async () => {
  const { id, address } = await insertListing(database.db);
  const escrow = (earned: bigint, withdrawable: bigint) => ({
    address: `escrow ${id}`,
    listing_address: address,
    slot: 1n,
    total_earned_lamports: earned,
    earnings_lamports: withdrawable,
  });
  const change = (earned: bigint, withdrawable: bigint) =>
    database.db
      .updateTable('escrows')
      .set(escrow(earned, withdrawable))
      .where('listing_address', '=', address)
      .execute();
  // Its first amount may be of any time.
  await database.db.insertInto('escrows').values(escrow(5_000_000_000n, 0n)).execute();
  await change(5_000_000_700n, 700n);
  await change(8_000_000_700n, 3_000_000_700n);
  await change(8_000_000_700n, 0n);
  // A fork dropped a charge.
  await change(8_000_000_600n, 0n);
  const kept = await database.db
    .selectFrom('listing_stats')
    .select(['grain', 'measure', 'amount'])
    .where('listing_id', '=', id)
    .orderBy('grain')
    .execute();
  expect(kept).toEqual([
    { grain: 'day', measure: 'earned', amount: 3_000_000_600n },
    { grain: 'hour', measure: 'earned', amount: 3_000_000_600n },
  ]);
});
