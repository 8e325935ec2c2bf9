import { sql } from 'kysely';
import { Client } from 'pg';
import { afterAll, expect, it } from 'vitest';
import { createCredentialRepository } from '../credentials/index.js';
import { createRunRepository } from '../runs/index.js';
import { deriveKeys } from '../platform/keys.js';
import { insertListing, insertRun, newWallet, openTestDatabase } from '../testing/index.js';
import { foldCounts } from './fold-counts.js';
import { countWithPending } from './listing-row.js';
import { createListingRepository } from './repository.js';
import { rentedElsewhere } from './rented-elsewhere.js';
import { createReviews } from './reviews/reviews.js';
import { createListingService } from './service.js';

const database = await openTestDatabase();
afterAll(() => database.close());

/** Every kept field beside its value by a count now: rows that differ. */
async function differences(): Promise<unknown[]> {
  const { rows } = await sql`
    select 'run_count' as field, id as of, (${sql.raw(countWithPending('run_count'))})::bigint as kept,
      (select count(*) from runs where listing_id = listings.id and status in ('completed', 'failed')) as counted
      from listings
    union all select 'completed_count', id, ${sql.raw(countWithPending('completed_count'))},
      (select count(*) from runs where listing_id = listings.id and status = 'completed')
      from listings
    union all select 'review_count', id, review_count,
      (select count(*) from reviews where listing_id = listings.id) from listings
    union all select 'rating_sum', id, rating_sum,
      (select coalesce(sum(rating), 0) from reviews where listing_id = listings.id) from listings
    union all select 'rating_counts of ' || stars, id, rating_counts[stars],
      (select count(*) from reviews where listing_id = listings.id and rating = stars)
      from listings, generate_series(1, 5) as stars
    union all select 'ranked_review_count', id, ranked_review_count,
      (select count(*) from reviews where listing_id = id and ${rentedElsewhere(sql`reviewer`, sql`listings.creator`)}) from listings
    union all select 'ranked_rating_sum', id, ranked_rating_sum,
      (select coalesce(sum(rating), 0) from reviews where listing_id = id and ranks) from listings
    union all select 'listing_count', wallet, listing_count,
      (select count(*) from listings where creator = wallet and status = 'active') from creators
    union all select 'searchable', id, (select count(*) from listing_search where listing_id = id),
      (select count(*) from listing_search natural join searchable_listings where listing_id = listings.id)
      from listings
    union all select 'in search', 'all', (select count(*) from listing_search),
      (select count(*) from listings where status = 'active')
    union all select 'terms of ' || coalesce(kept.kind, counted.kind), coalesce(kept.term, counted.term),
      coalesce(kept.listing_count, 0), coalesce(counted.count, 0)
      from search_term_counts kept full join (
        select kind, term, count(*) from listings, listing_terms(title, description, category, rental_model)
        where status = 'active' group by kind, term
      ) counted on counted.kind = kept.kind and counted.term = kept.term`.execute(database.db);
  // Sums are numeric, which the driver gives as text.
  return (rows as { kept: bigint; counted: unknown }[]).filter(
    ({ kept, counted }) => String(kept) !== String(counted),
  );
}

/** Lets a connection do that inside a transaction, and kills it before it commits. */
async function killedBeforeCommit(statements: string[]): Promise<void> {
  const client = new Client({ connectionString: database.url });
  const ended = new Promise<void>((resolve) => {
    client.on('error', () => resolve());
  });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  await client.query('begin');
  for (const statement of statements) await client.query(statement);
  // By a separate connection: all connections of the pool may wait for the locks of this one.
  const killer = new Client({ connectionString: database.url });
  await killer.connect();
  await killer.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
  await Promise.all([ended, killer.end()]);
}

it('the derived fields of listings and creators are exact after many writers at once, some of them rolled back or killed [LST-8, LST-9, LST-13, LST-43]', async () => {
  const { db } = database;
  const runs = createRunRepository(db, deriveKeys(new Uint8Array(32).fill(9)));
  const reviews = createReviews(db, createListingService(createListingRepository(database)), {
    isFundedBy: async () => false,
  });
  const creators = [newWallet(), newWallet()];
  const listings = await Promise.all(
    ['Invoice reader', 'Invoice checker', 'Contract reader', 'Contract checker'].map((title, index) =>
      insertListing(db, { title, creator: creators[index % 2] ?? '', category: ['legal', 'finance'] }),
    ),
  );
  const renters = Array.from({ length: 6 }, newWallet);

  const runAndReview = async (renter: string, index: number) => {
    for (const listing of listings) {
      const run = await insertRun(db, listing, renter);
      const end = { runId: run, agentId: listing.id, output: '', costLamports: 0n, durationMs: 1 };
      await runs.finish({ ...end, status: index % 3 === 0 ? 'failed' : 'completed' });
      // The same end twice: the second is refused, and counts nothing.
      await expect(runs.finish({ ...end, status: 'completed' })).rejects.toThrow('had ended already');
      await Promise.all([
        reviews.put(listing.id, renter, { rating: 1 + (index % 5) }),
        reviews.put(listing.id, renter, { rating: 5 - (index % 5), comment: 'On second thoughts.' }),
      ]);
    }
  };
  const rentals = createCredentialRepository(db);
  /** The first listing's creator is another one for two of the listings. */
  const rent = (buyer: string) => {
    const terms = {
      rental_model: 'one_time',
      valid: true,
      purchased_at: new Date(),
      expires_at: null,
    } as const;
    const row = { address: newWallet(), buyer, listing_address: String(listings[0]?.address), ...terms };
    return rentals.apply([{ kind: 'credential', row }], 1n, true);
  };
  const pauseAndRename = async (index: number) => {
    const { id } = listings[index % 4] ?? {};
    const last = index === 1 ? 'closed' : 'active';
    for (const status of ['paused', 'active', 'paused', 'active', last] as const) {
      await db
        .updateTable('listings')
        .set({ status, title: `Invoice ${status} ${index}`, price_lamports: BigInt(1_000 * (index + 1)) })
        .where('id', '=', String(id))
        .execute();
    }
  };
  const rolledBack = async (index: number) => {
    const { id } = listings[index % 4] ?? {};
    const attempt = db.transaction().execute(async (tx) => {
      await tx
        .updateTable('listings')
        .set({ status: 'paused', title: 'Never', rating_sum: 99, run_count: 99 })
        .where('id', '=', String(id))
        .execute();
      throw new Error('rolled back');
    });
    await expect(attempt).rejects.toThrow('rolled back');
  };
  const killed = (index: number) =>
    killedBeforeCommit([
      `update listings set status = 'closed', title = 'Killed' where id = '${listings[index % 4]?.id}'`,
      `insert into reviews (listing_id, reviewer, rating) values ('${listings[index % 4]?.id}', 'killed', 1)`,
      `update listings set rating_sum = rating_sum + 1, review_count = review_count + 1, run_count = run_count + 1
        where id = '${listings[index % 4]?.id}'`,
    ]);

  await Promise.all([
    ...renters.map(runAndReview),
    ...renters.slice(2).map(rent),
    ...[0, 1, 2, 3, 0, 2].map(pauseAndRename),
    ...[0, 1, 2, 3].map(rolledBack),
    ...[0, 1, 2, 3].map(killed),
    ...[0, 1, 2].map(() => foldCounts(db)),
  ]);

  expect(await differences()).toEqual([]);
  await foldCounts(db);
  expect(await differences()).toEqual([]);
  const { rows } = await sql<{ runs: bigint; reviews: bigint; ranked: bigint }>`
    select sum(run_count) as runs, sum(review_count) as reviews, sum(ranked_review_count) as ranked from listings`.execute(
    db,
  );
  expect(rows[0]).toEqual({ runs: 24n, reviews: 24n, ranked: 8n });
  const counts = db.selectFrom('creators').select('listing_count').where('wallet', 'in', creators);
  const kept = await counts.orderBy('listing_count').execute();
  expect(kept.map((row) => row.listing_count)).toEqual([1, 2]);
});
