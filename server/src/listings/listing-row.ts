import type { Selectable } from 'kysely';
import type { Database } from '../platform/database/schema.js';

/** A listing with what is shown of its creator. */
export type ListingRow = Selectable<Database['listings']> & {
  display_name: string | null;
  listing_count: number;
};
