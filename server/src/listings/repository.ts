import type { Selectable } from 'kysely';
import type { Db } from '../platform/database/database.js';
import type { Database } from '../platform/database/schema.js';
import { createListingSearch } from './search.js';
import type { Search } from './search-conditions.js';

/** A published listing with what search shows of its creator. */
export type ListingRow = Selectable<Database['listings']> & {
  display_name: string | null;
  listing_count: number;
};

const withCreator = (db: Db) =>
  db
    .selectFrom('listings')
    .innerJoin('creators', 'creators.wallet', 'listings.creator')
    .selectAll('listings')
    .select(['creators.display_name', 'creators.listing_count']);

/** Reads listings. */
export interface ListingRepository {
  /** A listing that is or was on sale; drafts are not found. */
  findPublished(id: string): Promise<ListingRow | undefined>;
  /** `didYouMean`: of a search that found nothing, words that find something. */
  search(query: Search): Promise<{ rows: ListingRow[]; total: number; didYouMean?: string }>;
  findPublishedId(address: string): Promise<string | undefined>;
  findVersion(id: string): Promise<Selectable<Database['agent_versions']> | undefined>;
}

export function createListingRepository(db: Db): ListingRepository {
  const finder = createListingSearch(db);
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
      const { ids, ...found } = await finder.find(search);
      if (ids.length === 0) return { rows: [], ...found };
      const rows = await withCreator(db).where('listings.id', 'in', ids).execute();
      const byId = new Map(rows.map((row) => [row.id, row]));
      return { rows: ids.flatMap((id) => byId.get(id) ?? []), ...found };
    },
  };
}
