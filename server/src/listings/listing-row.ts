import type { Selectable } from 'kysely';
import type { Database } from '../platform/database/schema.js';

/** A listing with what is shown of its creator. */
export type ListingRow = Selectable<Database['listings']> & {
  display_name: string | null;
  listing_count: number;
};

/** What a page of a search shows of a listing. */
export const SUMMARY_COLUMNS = [
  'id',
  'creator',
  'title',
  'description',
  'category',
  'rental_model',
  'price_lamports',
  'run_count',
  'completed_count',
  'rating_sum',
  'review_count',
  'updated_at',
  'sample_output',
] as const satisfies readonly (keyof ListingRow)[];

/** A listing of a page, with what is shown of its creator. */
export type ListingSummaryRow = Pick<
  ListingRow,
  (typeof SUMMARY_COLUMNS)[number] | 'display_name' | 'listing_count'
>;
