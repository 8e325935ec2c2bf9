import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import type { FoundPage } from './browse.js';
import type { SearchParts } from './common-words.js';
import { allOf, EVERY_LISTING, facetLexeme, ORDERS, type Search } from './conditions.js';
import type { Counts } from './rare-words.js';

/** A query of words that begin with the words of a search, and about how many listings it finds. */
type Begun = Pick<Counts, 'begun' | 'begun_listings'>;

/** The words that begin with a word which some listings have. */
export async function readBegun(db: Db, q: string): Promise<Begun | undefined> {
  const { rows } = await sql<Begun>`select begun, begun_listings from other_words(${q}, true)`.execute(db);
  return rows[0];
}

/**
 * Finds listings with words that begin with the words of the search: a person types "expen". `other-words.sql` says which.
 * Listings with the whole words are not among them: these come first.
 *
 * @param page of these listings alone
 */
export async function findBegun(
  { db, parts }: { db: Db; parts: SearchParts },
  search: Search,
  { begun, begun_listings: listings }: Begun,
  page: Pick<Search, 'limit' | 'offset'>,
): Promise<FoundPage> {
  if (begun === null) return { rows: [], total: 0 };
  const facet = facetLexeme(search);
  const words = sql`${begun}::tsquery && !! plainto_tsquery('english', ${search.q})`;
  const part = {
    documents: facet === undefined ? words : sql`${words} && ${allOf([facet])}`,
    order: sql.raw(ORDERS[search.sort === 'relevance' ? 'newest' : search.sort]),
    listings: Number(listings ?? 0n),
    isCounted: false,
  };
  const onSale = await sql<{ listing_count: bigint }>`
    select listing_count from search_term_counts where kind = 'lexeme' and term = ${EVERY_LISTING}`.execute(
    db,
  );
  return parts.find(search, part, page, Number(onSale.rows[0]?.listing_count ?? 0n));
}
