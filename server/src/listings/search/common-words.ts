import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../../database/connection.js';
import { SHOWN, type FoundPage } from './browse.js';
import type { ListingSummaryRow } from '../listing-row.js';
import { every, rangeConditions, type Search, type Sql } from './conditions.js';

/** Part of a search's result, as long as it is in one order. */
interface SearchPart {
  /** The condition on its documents. */
  documents: Sql;
  order: Sql;
  /** How many listings it has: exactly where they are counted, else about. */
  listings: number;
  isCounted: boolean;
}

/** The requested page of a part. */
type Page = Pick<Search, 'limit' | 'offset'>;

/** Reads parts of the result of a search by words that many listings have. */
export interface SearchParts {
  /** How many active listings match, within the bounds of the search. */
  count(search: Search, documents: Sql): Promise<number>;
  /**
   * A page of a part, and how many listings the part has: in one look-up where the page needs one anyway.
   *
   * @param onSale all active listings
   */
  find(search: Search, part: SearchPart, page: Page, onSale: number): Promise<FoundPage>;
}

/**
 * Microseconds of a search at a million listings. `walked` is for each listing of an order's index, with its document.
 * `lookedUp` is for each listing of the words' index, and `block` for each block of the table with such listings.
 */
const COSTS = { walked: 6.5, lookedUp: 0.3, block: 1 } as const;
const LISTINGS_PER_BLOCK = 65;

/** Makes the reader of parts. Each statement has a connection for itself: no search holds one while it waits for another. */
export function createSearchParts(db: Db): SearchParts {
  /**
   * For words of most listings the planner would read every document, all of them out of line; that is switched off. There
   * is memory for the first 50,000 matches while the rest are compared with them, as pages far down need it.
   */
  function run<T>(statement: RawBuilder<T>): Promise<T[]> {
    return db.transaction().execute(async (tx) => {
      await sql`select set_config('enable_seqscan', 'off', true), set_config('work_mem', '16MB', true)`.execute(
        tx,
      );
      return (await statement.execute(tx)).rows;
    });
  }

  async function count(search: Search, documents: Sql): Promise<number> {
    const rows = await run(sql<{ count: bigint }>`
      select count(*) as count from listing_search
      where ${every([sql`document @@ (${documents})`], rangeConditions(search))}`);
    return Number(rows[0]?.count ?? 0n);
  }

  async function find(search: Search, part: SearchPart, page: Page, onSale: number): Promise<FoundPage> {
    if (!part.isCounted && !isWalked(part.listings, page, onSale)) return lookUp(search, part, page);
    const total = part.isCounted ? part.listings : await count(search, part.documents);
    if (page.limit <= 0 || page.offset >= total) return { rows: [], total };
    const counted = { ...part, listings: total, isCounted: true };
    return isWalked(total, page, onSale) ? walk(search, counted, page) : lookUp(search, counted, page);
  }

  /** By an order's index, listing by listing until the page is full. */
  async function walk(
    search: Search,
    { documents, order, listings }: SearchPart,
    { limit, offset }: Page,
  ): Promise<FoundPage> {
    // Wrapped, so that no index on documents is thought of.
    const worded = sql`coalesce(document @@ (${documents}), false)`;
    const rows = await run(sql<ListingSummaryRow>`
      ${sql.raw(SHOWN.before)}
        select seq from listing_search where ${every([worded], rangeConditions(search))}
        order by ${order} limit ${limit} offset ${offset}
      ${sql.raw(SHOWN.after)} order by position`);
    return { rows, total: listings };
  }

  /** By the words' index, all listings at once, which counts them where they are not counted yet. */
  async function lookUp(
    search: Search,
    { documents, order, listings, isCounted }: SearchPart,
    { limit, offset }: Page,
  ): Promise<FoundPage> {
    const total = isCounted ? sql`${listings}::bigint` : sql`(select count(*) from found)`;
    const rows = await run(sql<ListingSummaryRow & { total: bigint; position: bigint | null }>`
      with found as (
        select seq, published_at, price_lamports, rating, rating_order from listing_search
        where ${every([sql`document @@ (${documents})`], rangeConditions(search))}
        offset 0
      )
      select counted.total, shown.* from (select ${total} as total) counted
      left join (
        ${sql.raw(SHOWN.before)}
          select seq from found order by ${order} limit ${limit} offset ${offset}
        ${sql.raw(SHOWN.after)}
      ) shown on true order by position`);
    // Where the page is empty, a row has the total alone.
    return { rows: rows.filter(({ position }) => position !== null), total: Number(rows[0]?.total ?? 0n) };
  }

  return { count, find };
}

/** Whether a page is found sooner along its order's index than by the words' one. */
function isWalked(listings: number, { limit, offset }: Page, onSale: number): boolean {
  const walked = ((offset + limit) * onSale) / listings;
  const blocks = Math.min(listings, onSale / LISTINGS_PER_BLOCK);
  return walked * COSTS.walked < listings * COSTS.lookedUp + blocks * COSTS.block;
}
