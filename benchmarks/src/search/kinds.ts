import type { Query } from './plain.js';
import type { Connection } from './seed.js';

/** A kind of query, and examples of it. */
export interface QueryKind {
  readonly kind: string;
  readonly queries: readonly Query[];
}

const BASE: Query = { sort: 'relevance', limit: 20, offset: 0 };
const SORTS = ['rating', 'price_asc', 'price_desc', 'newest'] as const;
const EXAMPLES = 7;

/** Makes every kind of query of the search. Its words come from the listings, by their frequency. */
export async function queryKinds(connection: Connection): Promise<QueryKind[]> {
  const words = async (from: number, to: number): Promise<string[]> => {
    const { rows } = await connection.query(
      `select term from search_terms where kind = 'word' and length(term) > 5
        and listing_count between (select listing_count from search_terms where term = '*') * ${from}
          and (select listing_count from search_terms where term = '*') * ${to}
        order by hashtext(term) limit ${EXAMPLES}`,
    );
    if (rows.length === 0) throw new Error(`No word is in ${from} to ${to} of the listings.`);
    return (rows as { term: string }[]).map((row) => row.term);
  };
  const rare = await words(0.00003, 0.0002);
  const middle = await words(0.002, 0.008);
  const common = await words(0.02, 0.1);
  const everywhere = await words(0.2, 1);
  const misspelled = rare.map((word) => `${word.slice(0, 2)}x${word.slice(3)}`);

  const of = (kind: string, examples: readonly string[], rest: Partial<Query> = {}): QueryKind => ({
    kind,
    queries: examples.map((q) => ({ ...BASE, q, ...rest })),
  });
  const browse = (kind: string, ...queries: Partial<Query>[]): QueryKind => ({
    kind,
    queries: queries.map((query) => ({ ...BASE, ...query })),
  });
  const pairs = common.map((word, index) => `${word} ${everywhere[index % everywhere.length]}`);
  return [
    browse('no q', {}),
    ...SORTS.map((sort) => browse(`no q, ${sort}`, { sort })),
    browse('category', { category: 'finance' }, { category: 'content' }),
    browse('rental model', { rental_model: 'per_query' }, { rental_model: 'one_time' }),
    browse('category and rental model', { category: 'legal', rental_model: 'subscription' }),
    browse('price range', { min_price: 0.001, max_price: 0.01 }, { max_price: 0.005 }, { min_price: 1 }),
    browse('minimum rating', { min_rating: 4 }, { min_rating: 4.8 }, { min_rating: 3 }),
    browse('all filters', {
      category: 'finance',
      rental_model: 'per_query',
      min_price: 0.001,
      max_price: 1,
      min_rating: 3.5,
      sort: 'rating',
    }),
    browse('no q, deep offset', { offset: 10_000 }, { offset: 200_000 }),
    browse('category by price, deep offset', { category: 'coding', sort: 'price_asc', offset: 50_000 }),
    of('q rare', rare),
    of('q middling', middle),
    of('q common', common),
    of('q everywhere', everywhere),
    of('q misspelled', misspelled),
    of('q of two common words', pairs),
    of(
      'q of three words, one rare',
      pairs.map((pair, index) => `${pair} ${rare[index % rare.length]}`),
    ),
    ...SORTS.map((sort) => of(`q common, ${sort}`, common, { sort })),
    of('q common and category', common, { category: 'legal' }),
    of('q common and price range', common, { min_price: 0.001, max_price: 0.1 }),
    of('q common and minimum rating', common, { min_rating: 4 }),
    of('q common, all filters, by price', common, {
      category: 'finance',
      rental_model: 'per_query',
      max_price: 1,
      min_rating: 3,
      sort: 'price_asc',
    }),
    of('q common, deep offset', common, { offset: 5_000 }),
    of('q everywhere, deep offset, by rating', everywhere, { sort: 'rating', offset: 50_000 }),
  ];
}
