import { CATEGORIES, RENTAL_MODELS } from '@agent-rental/contract';
import { sql } from 'kysely';
import { Client } from 'pg';
import { afterAll, expect, it, vi } from 'vitest';
import { migrate } from '../../database/migrate.js';
import { insertListing, newWallet, openRestartableDatabase, openTestDatabase } from '../../testing/index.js';
import { foldCounts } from '../fold-counts.js';
import { createListingRepository } from '../repository.js';
import { numbers } from './numbers.test-support.js';

const database = await openTestDatabase();
afterAll(() => database.close());

const WORDS = ['invoice', 'contract', 'report', 'audit', 'summary', 'ledger', 'tax', 'brief'];

/** What search and creators' pages read, without the order in which listings came. */
async function keptTables(): Promise<unknown> {
  const { rows } = await sql<{ kept: unknown }>`
    select jsonb_build_object(
      'listings', (select jsonb_agg(to_jsonb(kept) - 'seq' - 'padding' order by listing_id) from listing_search kept),
      'terms', (select jsonb_agg(jsonb_build_array(kind, term, listing_count) order by kind, term)
        from search_term_counts where listing_count <> 0),
      'creators', (select jsonb_object_agg(wallet, listing_count) from creators)
    ) as kept`.execute(database.db);
  return rows[0]?.kept;
}

it('the random changes below are of every column that search reads', async () => {
  const { rows } = await sql<{ column_name: string }>`
    select column_name::text from information_schema.view_column_usage
    where view_name = 'searchable_listings' and table_name = 'listings' order by column_name`.execute(
    database.db,
  );
  const changed = [
    'category',
    'description',
    'failing_since',
    'hidden_since',
    'price_lamports',
    'ranked_rating_sum',
    'rating_sum',
  ];
  const others = ['ranked_review_count', 'rental_model', 'review_count', 'status', 'title'];
  // The first two never change on sale.
  expect(rows.map((row) => row.column_name)).toEqual(
    ['id', 'published_at', ...changed, ...others].toSorted(),
  );
});

it('the tables of search equal a rebuild, after random changes of many listings in one statement', async () => {
  const { db } = database;
  const below = numbers(11);
  const creators = [newWallet(), newWallet(), newWallet()];
  for (let index = 0; index < 40; index += 1) {
    await insertListing(db, {
      creator: creators[below(3)] ?? '',
      title: `${WORDS[below(8)]} ${WORDS[below(8)]}`,
    });
  }
  /** A part of the listings, different each time. */
  const some = () => sql`hashtext(id || ${String(below(1_000))}) % ${2 + below(3)} = 0`;
  const word = () => WORDS[below(8)] ?? '';
  const changes = [
    () =>
      sql`update listings set status = (array['active', 'paused', 'closed'])[${1 + below(3)}] where ${some()}`,
    () => sql`update listings set title = ${word()} || ' ' || ${word()} where ${some()}`,
    () => sql`update listings set description = description || ' ' || ${word()} where ${some()}`,
    () => sql`update listings set price_lamports = price_lamports + ${below(9)}, rating_sum = 4, review_count = 1 + ${below(2)}
      where ${some()}`,
    () => sql`update listings set ranked_rating_sum = ${below(5)}, ranked_review_count = 1 where ${some()}`,
    () => sql`update listings set category = ${sql.val([CATEGORIES[below(CATEGORIES.length)]])},
      rental_model = ${RENTAL_MODELS[below(RENTAL_MODELS.length)]}, status = 'active' where ${some()}`,
    () => sql`update listings set creator = ${creators[below(3)]} where ${some()}`,
    () => sql`update listings set run_count = run_count + 1 where ${some()}`,
    () =>
      sql`update listings set failing_since = case when failing_since is null then now() end where ${some()}`,
    () =>
      sql`update listings set hidden_since = case when hidden_since is null then now() end where ${some()}`,
    () => sql`update listings set title = 'none' where false`,
    () => sql`insert into listings (id, creator, title, description, category, rental_model, price_lamports,
        min_deposit_lamports, status, address, metadata_uri, sample_output, version_id, review_state, published_at)
      select 'copy-' || ${String(below(1_000_000))} || id, creator, title || ' ' || ${word()}, description, category, rental_model,
        price_lamports, min_deposit_lamports, status, 'copy-' || ${String(below(1_000_000))} || address, metadata_uri,
        sample_output, version_id, review_state, published_at
      from listings where id not like 'copy-%' and ${some()}`,
    () => sql`insert into listings select (jsonb_populate_record(listings, '{"status": "active"}')).* from listings where ${some()}
      on conflict (id) do update set status = excluded.status, title = excluded.title || ' ' || ${word()}`,
    () => sql`delete from listings where id like 'copy-%' and ${some()}`,
  ];
  let active = 0;
  for (let round = 0; round < 120; round += 1) {
    await changes[below(changes.length)]?.().execute(db);
    if (below(8) === 0) await foldCounts(db);
    if (round % 20 !== 19) continue;
    const kept = await keptTables();
    await sql`select rebuild_listing_search()`.execute(db);
    expect(kept, `after ${round + 1} changes`).toEqual(await keptTables());
    active += ((kept as { listings: unknown[] | null }).listings ?? []).length;
  }
  // Else the tables would agree on nothing.
  expect(active).toBeGreaterThan(60);
});

it('a publication does not wait for another one that is not committed, and both are counted', async () => {
  const { db } = database;
  const drafts = await Promise.all(
    [1, 2].map(() => insertListing(db, { title: 'Quarterly statement', status: 'paused' })),
  );
  // The terms are known by then: only the first listing with a word adds it.
  const known = await insertListing(db, { title: 'Quarterly statement' });
  const slow = new Client({ connectionString: database.url });
  const quick = new Client({ connectionString: database.url });
  await Promise.all([slow.connect(), quick.connect()]);
  try {
    await slow.query('begin');
    await slow.query(`update listings set status = 'active' where id = $1`, [drafts[0]?.id]);
    await quick.query(`set lock_timeout = '5s'`);
    await quick.query(`update listings set status = 'active' where id = $1`, [drafts[1]?.id]);
    // No delta is lost: neither the folded ones nor the appended ones of the open transaction.
    await foldCounts(db);
    await foldCounts(db);
    const found = await createListingRepository(database).search(QUARTERLY);
    expect(found.rows.map(({ id }) => id).toSorted()).toEqual(
      [known.id, drafts[1]?.id ?? ''].toSorted((one, other) => (one < other ? -1 : 1)),
    );
    expect(found.total).toBe(2);
    await slow.query('commit');
  } finally {
    await Promise.all([slow.end(), quick.end()]);
  }
  for (const fold of [false, true, true, true]) {
    if (fold) await foldCounts(db);
    expect((await createListingRepository(database).search(QUARTERLY)).total).toBe(3);
  }
  const left = await sql`select from search_term_deltas`.execute(db);
  expect(left.rows).toHaveLength(0);
});

it('reads begin after the deltas that are folded for good', { timeout: 60_000 }, async () => {
  // A separate server: an open transaction on any of its databases delays the fold.
  const own = await openRestartableDatabase();
  try {
    const { db } = own;
    await migrate(db);
    await insertListing(db, { title: 'Quarterly statement' });
    await vi.waitFor(
      async () => {
        await foldCounts(db);
        const { rows } = await sql<{ folded: bigint; last: bigint }>`
          select folded_seq as folded, (select last_value from search_term_deltas_seq_seq) as last
          from delta_folds where name = 'search terms'`.execute(db);
        expect(rows[0]?.folded).toBe(rows[0]?.last);
      },
      { timeout: 30_000, interval: 50 },
    );
  } finally {
    await own.close();
  }
});

const QUARTERLY = { q: 'quarterly', sort: 'relevance', limit: 20, offset: 0 } as const;
