import { lamportsFromSol, type searchListingsQuery } from '@agent-rental/contract';
import { sql, type Selectable } from 'kysely';
import type { z } from 'zod';
import type { Db } from '../platform/database/database.js';
import type { Database } from '../platform/database/schema.js';

/** A published listing with what search shows of its creator. */
export type ListingRow = Selectable<Database['listings']> & {
  display_name: string | null;
  listing_count: bigint | null;
};

type Search = z.output<typeof searchListingsQuery>;

const withCreator = (db: Db) =>
  db
    .selectFrom('listings')
    .innerJoin('creators', 'creators.wallet', 'listings.creator')
    .selectAll('listings')
    .select('creators.display_name')
    .select((eb) =>
      eb
        .selectFrom('listings as own')
        .whereRef('own.creator', '=', 'listings.creator')
        .where('own.status', '=', 'active')
        .select((count) => count.fn.countAll<bigint>().as('count'))
        .as('listing_count'),
    );

/** Reads listings. */
export interface ListingRepository {
  /** A listing that is or was on sale; drafts are not found. */
  findPublished(id: string): Promise<ListingRow | undefined>;
  search(query: Search): Promise<{ rows: ListingRow[]; total: number }>;
  findPublishedId(address: string): Promise<string | undefined>;
  findVersion(id: string): Promise<Selectable<Database['agent_versions']> | undefined>;
}

export function createListingRepository(db: Db): ListingRepository {
  return {
    findPublished: (id) =>
      withCreator(db)
        .where('listings.id', '=', id)
        .where('listings.status', '!=', 'draft')
        .executeTakeFirst(),

    async findPublishedId(address) {
      const row = await db
        .selectFrom('listings')
        .select('id')
        .where('address', '=', address)
        .where('status', '!=', 'draft')
        .executeTakeFirst();
      return row?.id;
    },

    findVersion: (id) => db.selectFrom('agent_versions').selectAll().where('id', '=', id).executeTakeFirst(),

    async search(search) {
      let found = withCreator(db).where('listings.status', '=', 'active');
      const words = sql`websearch_to_tsquery('english', ${search.q ?? ''})`;
      const averageRating = sql<number>`rating_sum::float8 / greatest(review_count, 1)`;
      if (search.q?.trim()) found = found.where(sql<boolean>`listings.document @@ ${words}`);
      if (search.category)
        found = found.where(sql<boolean>`listings.category @> array[${search.category}]::text[]`);
      if (search.rental_model) found = found.where('listings.rental_model', '=', search.rental_model);
      if (search.min_price !== undefined) {
        found = found.where('listings.price_lamports', '>=', lamportsFromSol(search.min_price));
      }
      if (search.max_price !== undefined) {
        found = found.where('listings.price_lamports', '<=', lamportsFromSol(search.max_price));
      }
      if (search.min_rating !== undefined)
        found = found.where(sql<boolean>`${averageRating} >= ${search.min_rating}`);

      const { total } = await found
        .clearSelect()
        .select((eb) => eb.fn.countAll<bigint>().as('total'))
        .executeTakeFirstOrThrow();

      const sort = search.sort === 'relevance' && !search.q?.trim() ? 'newest' : search.sort;
      if (sort === 'relevance') found = found.orderBy(sql`ts_rank_cd(listings.document, ${words})`, 'desc');
      if (sort === 'rating') found = found.orderBy(averageRating, 'desc');
      if (sort === 'price_asc') found = found.orderBy('listings.price_lamports', 'asc');
      if (sort === 'price_desc') found = found.orderBy('listings.price_lamports', 'desc');
      const rows = await found
        .orderBy('listings.published_at', 'desc')
        // Ties have an order too, or a row could stand on two pages.
        .orderBy('listings.id')
        .limit(search.limit)
        .offset(search.offset)
        .execute();
      return { rows: rows, total: Number(total) };
    },
  };
}
