import type { Selectable } from 'kysely';
import type { Database } from '../database/schema.js';

/** A listing with its creator as shown. */
export type ListingRow = Selectable<Database['listings']> & {
  display_name: string | null;
  listing_count: number;
};

/** A listing as a page of a search shows it. */
const SUMMARY_COLUMNS = [
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
  'failing_since',
  'free_trial',
  'icon_sha256',
  'median_ms',
] as const satisfies readonly (keyof ListingRow)[];

/** A listing of a page, with its creator as shown. */
export type ListingSummaryRow = Pick<
  ListingRow,
  (typeof SUMMARY_COLUMNS)[number] | 'display_name' | 'listing_count'
>;

/**
 * In SQL, the count of a listing with the runs that have ended and are not in its row yet (`fold_run_counts`). Not as a join, which
 * the planner may make for listings that are not shown.
 */
export const countWithPending = (column: 'run_count' | 'completed_count'): string =>
  `listings.${column} + (
    select coalesce(sum(delta.${column}), 0) from listing_run_deltas as delta where delta.listing_id = listings.id
      and delta.seq > (select folded_seq from delta_folds where name = 'run counts'))::integer`;

/** The same in SQL, of a listing and its creator. */
export const SHOWN_COLUMNS = [
  ...SUMMARY_COLUMNS.map((column) =>
    column === 'run_count' || column === 'completed_count'
      ? `${countWithPending(column)} as ${column}`
      : `listings.${column}`,
  ),
  'creators.display_name',
  'creators.listing_count',
].join(', ');

type ValuesOf<Columns extends readonly (keyof ListingSummaryRow)[]> = {
  -readonly [At in keyof Columns]: ListingSummaryRow[Columns[At]];
};

/**
 * Of a row by place, which costs the driver a fraction of one by name: the columns, and the place on its page. All are
 * null in a row that only says that a page is empty.
 */
export type ShownValues = [
  ...ValuesOf<typeof SUMMARY_COLUMNS>,
  ...ValuesOf<['display_name', 'listing_count']>,
  position: bigint | null,
];

/** The listing of a row by place; none where the page is empty. */
export function toRows(values: ShownValues): ListingSummaryRow[] {
  const [id, creator, title, description, category, rental_model, price_lamports, ...others] = values;
  const [
    run_count,
    completed_count,
    rating_sum,
    review_count,
    updated_at,
    sample_output,
    failing_since,
    free_trial,
    icon_sha256,
    median_ms,
    ...end
  ] = others;
  const [display_name, listing_count, position] = end;
  if (position === null) return [];
  return [
    {
      id,
      creator,
      title,
      description,
      category,
      rental_model,
      price_lamports,
      run_count,
      completed_count,
      rating_sum,
      review_count,
      updated_at,
      sample_output,
      failing_since,
      free_trial,
      icon_sha256,
      median_ms,
      display_name,
      listing_count,
    },
  ];
}
