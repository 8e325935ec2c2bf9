import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import { EVERY_LISTING } from './conditions.js';

/** The addresses of listings on sale, in parts: for search engines. */
export interface ListingAddresses {
  /** How many listings are on sale. */
  count(): Promise<number>;
  /** So many listings from a place on, in a lasting order, each with its creator. */
  page(offset: number, limit: number): Promise<{ id: string; creator: string }[]>;
}

/** Makes the reader of addresses. */
export function createListingAddresses(db: Db): ListingAddresses {
  return {
    async count() {
      const { rows } = await sql<{ listing_count: bigint }>`
        select listing_count from search_term_counts where kind = 'lexeme' and term = ${EVERY_LISTING}`.execute(
        db,
      );
      return Number(rows[0]?.listing_count ?? 0n);
    },
    async page(offset, limit) {
      const { rows } = await sql<{ id: string; creator: string }>`
        select listings.id, listings.creator
        from (select seq, listing_id from listing_search order by seq limit ${limit} offset ${offset}) page
        join listings on listings.id = page.listing_id order by seq`.execute(db);
      return rows;
    },
  };
}
