import { CATEGORIES, RENTAL_MODELS, searchListingsQuery, SORT_ORDERS } from '@agent-rental/contract';
import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../database/connection.js';
import { insertListing, newWallet, openTestDatabase } from '../../testing/index.js';
import { numbers } from './numbers.test-support.js';
import { createListingSearch } from './search.js';
import type { Search } from './conditions.js';

/** So many that some words are in more listings than are read one by one, and some in fewer. */
const LISTINGS = 480;
const WORDS = ['invoice', 'contract', 'report', 'audit', 'summary', "d'accord", 'back\\slash', 'the'];
const DAY_MS = 86_400_000;

const database = await openTestDatabase();
afterAll(() => database.close());
const below = numbers(7);
const words = (count: number) =>
  Array.from({ length: count }, () => WORDS[Math.floor(below(64) ** 0.5)] ?? '').join(' ');
const creators = Array.from({ length: 9 }, newWallet);
for (let index = 0; index < LISTINGS; index += 1) {
  await insertListing(database.db, {
    creator: creators[below(9)] ?? '',
    title: words(2),
    description: words(6),
    category: CATEGORIES.filter((_, at) => at === index % 5 || below(12) === 0),
    rental_model: RENTAL_MODELS[below(RENTAL_MODELS.length)] ?? 'one_time',
    price_lamports: BigInt(1 + below(8)) * 1_000_000n,
    rating_sum: below(6),
    review_count: below(2) * 2,
    ranked_rating_sum: below(6),
    ranked_review_count: below(2),
    published_at: new Date(1_700_000_000_000 + index * DAY_MS),
    status: index % 20 === 0 ? 'paused' : 'active',
    failing_since: index % 7 === 0 ? new Date() : null,
    hidden_since: index % 21 === 0 ? new Date() : null,
  });
}

/** The search as a sentence of SQL over the listings themselves, without any of the search tables. */
async function plainly(search: Search): Promise<{ ids: string[]; total: number }> {
  const {
    q = '',
    category,
    rental_model,
    min_price,
    max_price,
    min_rating,
    sort,
    limit,
    offset,
    ...others
  } = search;
  // A new filter is a condition of the statement below.
  others satisfies Record<string, never>;
  const words = sql`plainto_tsquery('english', ${q})`;
  const document = sql`(to_tsvector('english', title) || to_tsvector('english', description))`;
  const rating = sql`(rating_sum::float8 / greatest(review_count, 1))`;
  // Among equals, working listings come first.
  const last = sql`failing_since is not null, published_at desc`;
  const order = {
    relevance: q ? sql`to_tsvector('english', title) @@ ${words} desc, ${last}` : last,
    newest: last,
    rating: sql`(ranked_rating_sum + 15)::float8 / (ranked_review_count + 5) desc, ${last}`,
    price_asc: sql`price_lamports, ${last}`,
    price_desc: sql`price_lamports desc, ${last}`,
  }[sort];
  const { rows } = await sql<{ id: string; total: bigint }>`
    select id, count(*) over () as total from listings where status = 'active' and hidden_since is null
      and (${q} = '' or ${document} @@ ${words})
      and (${category ?? null}::text is null or ${category ?? ''} = any (category))
      and (${rental_model ?? null}::text is null or rental_model = ${rental_model ?? ''})
      and price_lamports between ${(min_price ?? 0) * 1e9} and ${(max_price ?? 1e6) * 1e9}
      and ${rating} >= ${min_rating ?? 0}
    order by ${order}`.execute(database.db);
  const ids = rows.map((row) => row.id).slice(offset, offset + limit);
  return { ids, total: rows.length };
}

describe.each([
  ['few', 1_000],
  ['many', 0],
])('a search with %s matches', (_, few) => {
  it('finds and counts the same listings as a plain query over them [LST-18, LST-19, LST-33, REG-142]', async () => {
    const search = createListingSearch(database, few);
    const below = numbers(few + 1);
    const maybe = <T>(values: readonly T[]): T | undefined =>
      below(3) === 0 ? values[below(values.length)] : undefined;
    let found = 0;
    for (let round = 0; round < 400; round += 1) {
      const query = searchListingsQuery.parse({
        q: below(4) === 0 ? undefined : [WORDS[below(8)], maybe(WORDS)].filter(Boolean).join(' '),
        category: maybe(CATEGORIES),
        rental_model: maybe(RENTAL_MODELS),
        min_price: maybe([0.001, 0.003]),
        max_price: maybe([0.002, 0.006]),
        min_rating: maybe([0.5, 1.5, 2]),
        sort: maybe(SORT_ORDERS),
        limit: [1, 5, 20, 100][below(4)],
        offset: [0, 0, 3, 30, 300][below(5)],
      } satisfies Record<keyof Search, unknown>);
      const expected = await plainly(query);
      const { rows, total } = await search.find(query);
      expect({ ids: rows.map(({ id }) => id), total }, JSON.stringify(query)).toEqual(expected);
      found += expected.ids.length;
    }
    // Else the searches would agree on nothing.
    expect(found).toBeGreaterThan(1_000);
  });
});

it('answers more searches at once than there are connections', async () => {
  const small = openDatabase(database.url, () => undefined, 2);
  try {
    const search = createListingSearch(small, 0);
    const query = searchListingsQuery.parse({ q: 'invoice report', min_price: 0.002 });
    const expected = await plainly(query);
    const found = await Promise.all(Array.from({ length: 20 }, () => search.find(query)));
    for (const { rows, total } of found) {
      expect({ ids: rows.map(({ id }) => id), total }).toEqual(expected);
    }
    expect(expected.total).toBeGreaterThan(10);
  } finally {
    await small.close();
  }
});
