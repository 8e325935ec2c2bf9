import * as z from 'zod';
import { page, timestamp, walletAddress } from '../primitives.js';

/** Longest answer of a creator to a review, in characters. */
export const REVIEW_ANSWER_CHARACTERS = 1_000;

/** The answer of a listing's creator to a review. */
export const reviewAnswer = z
  .object({ text: z.string(), answered_at: timestamp })
  .meta({ id: 'ReviewAnswer' });

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
    /** Absent without one. A review that replaces another one loses its answer. */
    answer: reviewAnswer.optional(),
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

/** How many reviews of a listing have each rating, from one star to five. */
export const ratingCounts = z
  .object({
    1: z.int().min(0),
    2: z.int().min(0),
    3: z.int().min(0),
    4: z.int().min(0),
    5: z.int().min(0),
  })
  .meta({ id: 'RatingCounts' });
export type RatingCounts = z.infer<typeof ratingCounts>;

/** Answer of `GET /v1/listings/:id/reviews`, the newest first. */
export const listReviewsResponse = z
  .object({
    reviews: z.array(review),
    total: z.int(),
    /** Of all reviews. Absent from servers that do not count them by rating. */
    rating_counts: ratingCounts.optional(),
    limit: z.int(),
    offset: z.int(),
  })
  .meta({ id: 'ReviewPage' });
export type ReviewPage = z.infer<typeof listReviewsResponse>;

/** Body of `PUT /v1/listings/:id/reviews/:reviewer/answer`. */
export const answerReviewBody = z
  .strictObject({ text: z.string().min(1).max(REVIEW_ANSWER_CHARACTERS) })
  .meta({ id: 'AnswerReview' });
