import { sql } from 'kysely';
import type { Db, OpenDatabase } from '../platform/database/database.js';
import { browse, SHOWN } from './browse.js';
import type { ListingSummaryRow } from './listing-row.js';
import { look, type Counts } from './look.js';
import {
  allOf,
  every,
  facetLexeme,
  ORDERS,
  rangeConditions,
  type Search,
  type Sql,
} from './search-conditions.js';

/** One page of a search. */
export interface FoundListings {
  /** The page's listings, in their order. */
  rows: ListingSummaryRow[];
  /** How many listings there are on all pages, exactly. */
  total: number;
  /** Of a search that found nothing: words that find something. */
  didYouMean?: string;
}

/** Finds active listings. */
export interface ListingSearch {
  find(search: Search): Promise<FoundListings>;
}

/** Listings that have the rarest word, up to which all that is asked for is found at once. */
const FEW = 1_000;
/** What it costs to walk an order's index to a row and read its document, in rows that the words' index gives. */
const WALKED_ROW_COST = 30;

/** Part of a result, as long as it is in one order. */
interface Part {
  /** What its documents match. */
  documents: Sql;
  order: Sql;
  total: number;
}

/**
 * Makes the search. By relevance, listings with all the words in their titles come first, and then the newest.
 *
 * @param few less than by default in tests, which have few listings
 */
export function createListingSearch(
  { db, pool }: Pick<OpenDatabase, 'db' | 'pool'>,
  few = FEW,
): ListingSearch {
  async function count(search: Search, documents: Sql, tx: Db): Promise<number> {
    const { rows } = await sql<{ count: bigint }>`
      select count(*) as count from listing_search
      where ${every([sql`document @@ (${documents})`], rangeConditions(search))}`.execute(tx);
    return Number(rows[0]?.count ?? 0n);
  }

  /** A page of a part: by the words' index where they are few, else along the order's. */
  async function page(search: Search, part: Part, limit: number, offset: number, onSale: number, tx: Db) {
    if (limit <= 0 || offset >= part.total) return [];
    const rowsWalked = ((offset + limit) * onSale) / part.total;
    const found =
      rowsWalked * WALKED_ROW_COST < part.total
        ? // Wrapped, so that no index on documents is thought of.
          sql`listing_search where ${every([sql`coalesce(document @@ (${part.documents}), false)`], rangeConditions(search))}`
        : sql`(select seq, published_at, price_lamports, rating from listing_search where ${every([sql`document @@ (${part.documents})`], rangeConditions(search))}
            offset 0) found`;
    const page = sql`select seq from ${found} order by ${part.order} limit ${limit} offset ${offset}`;
    const { rows } = await sql<ListingSummaryRow>`
      ${sql.raw(SHOWN.before)}${page}${sql.raw(SHOWN.after)} order by position`.execute(tx);
    return rows;
  }

  /** Words that many listings have. */
  async function findMany(search: Search, counts: Counts, tx: Db): Promise<FoundListings> {
    const { lexemes, rarest, rarest_title: rarestTitle, on_sale: onSale } = counts;
    const documents = documentsOf(search);
    // One word is counted already; for more, and for bounds, the index is asked.
    const counted = lexemes.length === 1 && !facetLexeme(search) && rangeConditions(search).length === 0;
    const total = counted ? rarest : await count(search, documents, tx);
    const onePart = async (order: Sql): Promise<FoundListings> => {
      const part = { documents, order, total };
      return { rows: await page(search, part, search.limit, search.offset, onSale, tx), total };
    };
    if (search.sort !== 'relevance') return onePart(sql.raw(ORDERS[search.sort]));
    const order = sql.raw(ORDERS.newest);
    const titled = allOf(lexemes.map((lexeme) => `title ${lexeme}`));
    const inTitle = { documents: sql`${documents} && ${titled}`, order, total: rarestTitle };
    if (!counted && rarestTitle > 0) inTitle.total = await count(search, inTitle.documents, tx);
    const others = { documents: sql`${documents} && !! ${titled}`, order, total: total - inTitle.total };
    const first = await page(search, inTitle, search.limit, search.offset, onSale, tx);
    const rest = await page(
      search,
      others,
      search.limit - first.length,
      Math.max(search.offset - inTitle.total, 0),
      onSale,
      tx,
    );
    return { rows: [...first, ...rest], total };
  }

  /** Without what the planner likes for words that most listings have: reading every document, all of them out of line. */
  function byIndexes<T>(work: (tx: Db) => Promise<T>): Promise<T> {
    return db.transaction().execute(async (tx) => {
      await sql`set local enable_seqscan = off`.execute(tx);
      return work(tx);
    });
  }

  async function find(search: Search): Promise<FoundListings> {
    if (!search.q?.trim()) return browse(pool, search);
    const { counts, rows } = await look(pool, search, few);
    if (counts.rarest > few) return byIndexes((tx) => findMany(search, counts, tx));
    const found = { rows, total: Number(counts.total) };
    const didYouMean = counts.did_you_mean;
    return didYouMean !== null && (await isFound(search, didYouMean)) ? { ...found, didYouMean } : found;
  }

  /** Whether listings have these words, each of which some have, and all else that is asked for. */
  async function isFound(search: Search, words: string): Promise<boolean> {
    const isOneWord = !words.includes(' ') && !facetLexeme(search) && rangeConditions(search).length === 0;
    if (isOneWord) return true;
    const asked = { ...search, q: words, limit: 1, offset: 0 };
    const { counts } = await look(pool, asked, few);
    if (counts.rarest <= few) return counts.total > 0n;
    return (await byIndexes((tx) => count(asked, documentsOf(asked), tx))) > 0;
  }

  return { find };
}

/** What documents match that have the words, the category and the rental model. */
function documentsOf(search: Search): Sql {
  const words = sql`plainto_tsquery('english', ${search.q})`;
  const facet = facetLexeme(search);
  return facet ? sql`${words} && ${allOf([facet])}` : words;
}
