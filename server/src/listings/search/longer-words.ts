import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import type { FoundPage } from './browse.js';
import type { SearchParts } from './common-words.js';
import { allOf, EVERY_LISTING, facetLexeme, ORDERS, type Search } from './conditions.js';
import type { Counts } from './rare-words.js';

/** A query of words that begin with the words of a search, and about how many listings it finds. */
type Longer = Pick<Counts, 'longer' | 'longer_listings'>;

/** The words that begin with a word which some listings have. */
export async function readLonger(db: Db, q: string): Promise<Longer | undefined> {
  const { rows } = await sql<Longer>`select longer, longer_listings from other_words(${q}, true)`.execute(db);
  return rows[0];
}

/**
 * Finds listings with words that begin with the words of the search: a person types "expen". `other-words.sql` says which.
 * Listings with the whole words are not among them: these come first.
 *
 * @param page of these listings alone
 */
export async function findLonger(
  { db, parts }: { db: Db; parts: SearchParts },
  search: Search,
  { longer, longer_listings: listings }: Longer,
  page: Pick<Search, 'limit' | 'offset'>,
): Promise<FoundPage> {
  if (longer === null) return { rows: [], total: 0 };
  const facet = facetLexeme(search);
  const words = sql`${longer}::tsquery && !! plainto_tsquery('english', ${search.q})`;
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
