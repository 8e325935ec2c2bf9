import type { Pool } from 'pg';
import { SHOWN_COLUMNS, toRows, type ListingSummaryRow, type ShownValues } from '../listing-row.js';
import { EVERY_LISTING, facetColumns, facetLexeme, ORDERS, rangesOf, type Search } from './conditions.js';

/** A page of listings in their order. */
export interface FoundPage {
  rows: ListingSummaryRow[];
  /** How many listings there are on all pages, exactly. */
  total: number;
}

/**
 * The parts of the statement before and after a page of `seq`: they show its listings with their creators, each at its
 * `position`. The orders' indexes have `seq`, so skipped listings are not read.
 */
export const SHOWN = {
  before: `select ${SHOWN_COLUMNS}, position
    from (select seq, row_number() over () as position from (`,
  after: `) ordered) page
    join listing_search using (seq)
    join listings on listings.id = listing_search.listing_id
    join creators on creators.wallet = listings.creator`,
} as const;

/**
 * A search without words: the orders' indexes answer it alone. It is the most frequent search, so its text is built by
 * hand: a query builder costs as much as the rest of the work.
 */
export async function browse(pool: Pool, search: Search): Promise<FoundPage> {
  const ranges = rangesOf(search);
  const values: (string | number | bigint)[] = [search.limit, search.offset];
  const parameter = (value: string | number | bigint) => `$${values.push(value)}`;
  const conditions = [
    ...facetColumns(search).map((column) => `"${column}"`),
    ...ranges.map(({ compared, value }) => `${compared} ${parameter(value)}`),
  ];
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  const total =
    ranges.length > 0
      ? `select count(*) from listing_search ${where}`
      : `select coalesce(sum(listing_count), 0)::bigint from search_term_counts
         where kind = 'lexeme' and term = ${parameter(facetLexeme(search) ?? EVERY_LISTING)}`;
  const order = ORDERS[search.sort === 'relevance' ? 'newest' : search.sort];
  const page = `select seq from listing_search ${where} order by ${order} limit $1 offset $2`;
  const text = `select counted.total, shown.* from (select (${total}) as total) counted
    left join (${SHOWN.before}${page}${SHOWN.after}) shown on true order by position`;
  const { rows } = await pool.query<[total: bigint, ...ShownValues]>({ text, values, rowMode: 'array' });
  return { rows: rows.flatMap(([, ...shown]) => toRows(shown)), total: Number(rows[0]?.[0] ?? 0n) };
}
