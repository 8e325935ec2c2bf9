import * as z from 'zod';
import { cursorPage, lamports, listingId, listingStatus, pageEnd } from '../primitives.js';

/** Amounts of earnings, after the protocol's fee. */
const earningsAmounts = z.object({
  /** All earnings since the start. */
  earned_lamports: lamports,
  earned_sol: z.number(),
  /** Earnings in escrow, which `withdraw` pays out now. */
  withdrawable_lamports: lamports,
  withdrawable_sol: z.number(),
  /** Prices of runs whose charge is not confirmed yet, before the fee. */
  pending_lamports: lamports,
  pending_sol: z.number(),
});

/** Earnings of one listing. */
export const listingEarnings = earningsAmounts
  .extend({ listing_id: listingId, title: z.string(), status: listingStatus })
  .meta({ id: 'ListingEarnings' });
export type ListingEarnings = z.infer<typeof listingEarnings>;

/** Query of `GET /v1/earnings`. */
export const earningsQuery = z.strictObject(cursorPage);

/** Answer of `GET /v1/earnings`: a page of listings, the latest first, and the sum over all of them. */
export const earningsResponse = z
  .object({
    earnings: z.array(listingEarnings),
    total: z.int(),
    sum: earningsAmounts,
    next_cursor: pageEnd.next_cursor,
  })
  .meta({ id: 'EarningsPage' });
export type Earnings = z.infer<typeof earningsResponse>;
