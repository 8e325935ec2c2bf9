import * as z from 'zod';
import { page, timestamp, walletAddress } from '../primitives.js';

/** A renter's review of a listing. */
export const review = z
  .object({
    reviewer: walletAddress,
    rating: z.int().min(1).max(5),
    comment: z.string().nullable(),
    /** Finished runs of the listing by this wallet, without a free first run; at most 100 are counted. */
    paid_runs: z.int().min(0).optional(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'Review' });
export type Review = z.infer<typeof review>;

/** Body of `POST /v1/listings/:id/reviews`. */
export const createReviewBody = z
  .strictObject({
    /** 1 to 5 in whole numbers; a `rating` of 0 on a listing means that it has no review. */
    rating: z.int().min(1).max(5),
    comment: z.string().max(2000).optional(),
  })
  .meta({ id: 'CreateReview' });

/** Query of `GET /v1/listings/:id/reviews`. */
export const listReviewsQuery = z.strictObject(page);

/** Answer of `GET /v1/listings/:id/reviews`, the newest first. */
export const listReviewsResponse = z
  .object({ reviews: z.array(review), total: z.int(), limit: z.int(), offset: z.int() })
  .meta({ id: 'ReviewPage' });
