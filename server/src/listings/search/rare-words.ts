import type { Pool } from 'pg';
import { SHOWN_COLUMNS, toRows, type ListingSummaryRow, type ShownValues } from '../listing-row.js';
import { boundsOf, facetLexeme, type Search } from './conditions.js';

/** The index's counts of the words in a search. */
export interface Counts {
  /** The words as they are indexed; none where the rarest is rare enough to look it up. */
  lexemes: string[];
  /** Listings that have the rarest word; zero without words. */
  rarest: number;
  /** The same of words in titles. */
  rarest_title: number;
  /** Active listings. */
  on_sale: number;
  /** Matches, where the rarest word is rare enough to look it up. */
  total: bigint;
  /** Where a word is in no listing: the words with the most similar ones that some listings have. */
  did_you_mean: string | null;
  /** Where a word is in no listing: the query of words that begin with it. */
  longer: string | null;
  /** About how many listings that finds. */
  longer_listings: bigint | null;
}

/**
 * The number of listings with each word. If one word is rare, the whole answer, too.
 *
 * Most searches are this statement alone, and its planning takes longer than its execution. It has a name, so that each
 * connection plans it once. `find-rare-words.sql` describes the function.
 *
 * @param few listings that have the rarest word, up to which they are looked through
 */
export async function findByRareWord(
  pool: Pool,
  search: Search,
  few: number,
): Promise<{ counts: Counts; rows: ListingSummaryRow[] }> {
  const { q, sort, limit, offset } = search;
  const { minPriceLamports, maxPriceLamports, minRating } = boundsOf(search);
  const facet = facetLexeme(search) ?? null;
  const { rows } = await pool.query<[...CountValues, ...ShownValues]>({
    name: 'find rare words',
    text: TEXT,
    values: [q, facet, few, sort, limit, offset, minPriceLamports, maxPriceLamports, minRating],
    rowMode: 'array',
  });
  const [first] = rows;
  if (!first) throw new Error('There is a row even where nothing is found.');
  const [lexemes, rarest, rarest_title, on_sale, total, did_you_mean, longer, longer_listings] = first;
  return {
    counts: { lexemes, rarest, rarest_title, on_sale, total, did_you_mean, longer, longer_listings },
    rows: rows.flatMap((row) => toRows(row.slice(COUNTS) as ShownValues)),
  };
}

/** How many values of a row are counts. */
const COUNTS = 8;
type CountValues = [
  lexemes: Counts['lexemes'],
  rarest: number,
  rarest_title: number,
  on_sale: number,
  total: bigint,
  did_you_mean: string | null,
  longer: string | null,
  longer_listings: bigint | null,
];

const TEXT = `
  select lexemes, rarest, rarest_title, on_sale, total, did_you_mean, longer, longer_listings,
    ${SHOWN_COLUMNS}, position
  from find_rare_words($1, $2, $3, $4, $5, $6, $7, $8, $9) found
  left join listings on listings.id = found.listing_id
  left join creators on creators.wallet = listings.creator
  order by position`;
