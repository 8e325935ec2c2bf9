import { sql } from 'kysely';
import type { OpenDatabase } from '../../database/connection.js';
import { findLonger, readLonger } from './longer-words.js';
import { browse, type FoundPage } from './browse.js';
import { findByRareWord, type Counts } from './rare-words.js';
import { allOf, facetLexeme, ORDERS, rangeConditions, type Search, type Sql } from './conditions.js';
import { createSearchParts } from './common-words.js';

/** One page of a search. */
export interface FoundListings extends FoundPage {
  /** Of a search that found nothing: words that find something. */
  didYouMean?: string;
}

/** Finds active listings. */
export interface ListingSearch {
  find(search: Search): Promise<FoundListings>;
}

/** Listings that have the rarest word, up to which all that is asked for is found at once. */
const FEW = 1_000;
/** Listings with the whole words, below which those with longer words are found too. */
const TOO_FEW = 10;

/**
 * Makes the search. By relevance, listings with all the words in their titles come first, and then the newest.
 *
 * @param few less than by default in tests, which have few listings
 */
export function createListingSearch(
  { db, pool }: Pick<OpenDatabase, 'db' | 'pool'>,
  few = FEW,
): ListingSearch {
  const parts = createSearchParts(db);

  /** Words that many listings have. */
  async function findMany(search: Search, counts: Counts): Promise<FoundListings> {
    const { lexemes, rarest, rarest_title: rarestTitle, on_sale: onSale } = counts;
    const { limit, offset, sort } = search;
    const documents = documentsOf(search);
    const facet = facetLexeme(search);
    // One word is counted already; for more, and for bounds, the index is asked.
    const isCounted = isOneWord(search, lexemes.length);
    const share = facet ? (await listingsWith(facet)) / onSale : 1;
    const order = sql.raw(ORDERS[sort === 'relevance' ? 'newest' : sort]);
    if (sort !== 'relevance') {
      return parts.find(search, { documents, order, listings: rarest * share, isCounted }, search, onSale);
    }

    const titles = allOf(lexemes.map((lexeme) => `title ${lexeme}`));
    const titled = {
      documents: sql`${documents} && ${titles}`,
      order,
      listings: rarestTitle * share,
      isCounted: isCounted || rarestTitle === 0,
    };
    const [first, total] = await Promise.all([
      parts.find(search, titled, search, onSale),
      isCounted ? rarest : parts.count(search, documents),
    ]);
    const others = {
      documents: sql`${documents} && !! ${titles}`,
      order,
      listings: total - first.total,
      isCounted: true,
    };
    const left = { limit: limit - first.rows.length, offset: Math.max(offset - first.total, 0) };
    const rest = await parts.find(search, others, left, onSale);
    return { rows: [...first.rows, ...rest.rows], total };
  }

  /** How many listings have the lexeme. */
  async function listingsWith(lexeme: string): Promise<number> {
    const { rows } = await sql<{ listing_count: bigint }>`
      select listing_count from search_term_counts where kind = 'lexeme' and term = ${lexeme}`.execute(db);
    return Number(rows[0]?.listing_count ?? 0n);
  }

  async function find(search: Search): Promise<FoundListings> {
    if (!search.q?.trim()) return browse(pool, search);
    const { counts, rows } = await findByRareWord(pool, search, few);
    if (counts.rarest > few) return findMany(search, counts);
    const found = await withLongerWords(search, { rows, total: Number(counts.total) }, counts);
    const didYouMean = found.total === 0 ? counts.did_you_mean : null;
    return didYouMean !== null && (await isFound(search, didYouMean)) ? { ...found, didYouMean } : found;
  }

  /** Adds the listings with longer words, after those with the whole words. */
  async function withLongerWords(search: Search, whole: FoundPage, counts: Counts): Promise<FoundPage> {
    const isAlone = counts.rarest > 0 && whole.total < TOO_FEW && isOneTyped(search);
    const words = isAlone ? await readLonger(db, search.q ?? '') : counts;
    if (!words || words.longer === null) return whole;
    const { limit, offset } = search;
    const left = { limit: limit - whole.rows.length, offset: Math.max(offset - whole.total, 0) };
    const longer = await findLonger({ db, parts }, search, words, left);
    return { rows: [...whole.rows, ...longer.rows], total: whole.total + longer.total };
  }

  /** Whether listings have these words, each of which some have, and all else that is asked for. */
  async function isFound(search: Search, words: string): Promise<boolean> {
    if (isOneWord(search, words.split(' ').length)) return true;
    const asked = { ...search, q: words, limit: 1, offset: 0 };
    const { counts } = await findByRareWord(pool, asked, few);
    if (counts.rarest <= few) return counts.total > 0n;
    return (await parts.count(asked, documentsOf(asked))) > 0;
  }

  return { find };
}

/** Whether the typed search is one word. */
const isOneTyped = ({ q = '' }: Search): boolean => !/\s/.test(q.trim());

/** Whether one word is all that is asked for. */
function isOneWord(search: Search, words: number): boolean {
  return words === 1 && !facetLexeme(search) && rangeConditions(search).length === 0;
}

/** The query for documents with the words, the category and the rental model. */
function documentsOf(search: Search): Sql {
  const words = sql`plainto_tsquery('english', ${search.q})`;
  const facet = facetLexeme(search);
  return facet ? sql`${words} && ${allOf([facet])}` : words;
}
