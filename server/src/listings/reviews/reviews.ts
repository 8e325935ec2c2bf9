import {
  PAID_RUNS_COUNTED,
  type createReviewBody,
  type listReviewsQuery,
  type Review,
  type ReviewPage,
} from '@agent-rental/contract';
import { sql, type Selectable } from 'kysely';
import type { z } from 'zod';
import { ApiError } from '../../errors/api-error.js';
import type { Db } from '../../database/connection.js';
import type { Database } from '../../database/schema.js';
import { cleanText } from '../../platform/clean-text.js';
import { rankReviews } from './rank-reviews.js';
import type { ListingService } from '../service.js';

/** Reviews of listings by renters. A listing's `rating` and `review_count` are of exactly these rows. */
export interface Reviews {
  /**
   * Writes a wallet's review of a listing, in place of an earlier one.
   *
   * @throws ApiError `invalid_listing_id`, `listing_not_found`, or `invalid_request` for the listing's creator,
   * for a wallet without a finished run of it, and for one that the creator funded.
   */
  put(listingId: string, reviewer: string, review: z.output<typeof createReviewBody>): Promise<Review>;
  /** @throws ApiError `invalid_listing_id` or `listing_not_found`. */
  list(listingId: string, page: z.output<typeof listReviewsQuery>): Promise<ReviewPage>;
  /**
   * Writes the creator's answer to the review of a wallet, in place of an earlier one. Null removes it.
   *
   * @throws ApiError `invalid_listing_id`; `listing_not_found` for another creator's; `not_found` without such a
   * review; `invalid_request` for a text with nothing to read.
   */
  answer(creator: string, listingId: string, reviewer: string, text: string | null): Promise<Review>;
}

export function createReviews(
  db: Db,
  listings: Pick<ListingService, 'find'>,
  history: { isFundedBy(wallet: string, funder: string): Promise<boolean> },
): Reviews {
  const reviewsOf = (executor: Db, listingId: string) =>
    executor.selectFrom('reviews').selectAll().select(paidRuns).where('listing_id', '=', listingId);

  const hasFinishedRun = async (wallet: string, listingId: string): Promise<boolean> => {
    const run = await db
      .selectFrom('runs')
      .select('id')
      .where('wallet', '=', wallet)
      .where('listing_id', '=', listingId)
      .where('status', 'in', ['completed', 'failed'])
      // Wallets are made for nothing: one that has paid nothing does not rate.
      .where('is_trial', '=', false)
      .limit(1)
      .executeTakeFirst();
    return run !== undefined;
  };

  return {
    async put(listingId, reviewer, { rating, comment }) {
      const listing = await listings.find(listingId);
      if (listing.creator === reviewer) {
        throw new ApiError('invalid_request', 'A creator cannot review its own listing.');
      }
      if (!(await hasFinishedRun(reviewer, listing.id))) {
        throw new ApiError(
          'invalid_request',
          'A review needs a finished run of this listing by this wallet, other than a free first run.',
          { next: 'Rent it, and run it with POST /v1/execute first.' },
        );
      }
      if (await history.isFundedBy(reviewer, listing.creator)) {
        throw new ApiError(
          'invalid_request',
          "The first SOL of this wallet came from the listing's creator, so it cannot review the listing.",
        );
      }
      const written = await db.transaction().execute(async (tx) => {
        // Reviews of one listing one after the other: the sum must see the rating that it replaces.
        const { rating_counts: counts } = await tx
          .selectFrom('listings')
          .select('rating_counts')
          .where('id', '=', listing.id)
          .forNoKeyUpdate()
          .executeTakeFirstOrThrow();
        const earlier = await tx
          .selectFrom('reviews')
          .select(['rating', 'ranks'])
          .where('listing_id', '=', listing.id)
          .where('reviewer', '=', reviewer)
          .executeTakeFirst();
        const said = { rating, comment: cleanText(comment ?? '') || null };
        await tx
          .insertInto('reviews')
          .values({ listing_id: listing.id, reviewer, ...said })
          .onConflict((conflict) =>
            // The answer was to the words before.
            conflict
              .columns(['listing_id', 'reviewer'])
              .doUpdateSet({ ...said, updated_at: sql`now()`, answer: null, answered_at: null }),
          )
          .execute();
        const change = rating - (earlier?.rating ?? 0);
        const byOne = (stars: number) => Number(stars === rating) - Number(stars === earlier?.rating);
        await tx
          .updateTable('listings')
          .set({
            rating_sum: sql`rating_sum + ${change}`,
            ranked_rating_sum: sql`ranked_rating_sum + ${earlier?.ranks === true ? change : 0}`,
            review_count: sql`review_count + ${earlier ? 0 : 1}`,
            rating_counts: counts.map((count, index) => count + byOne(index + 1)),
          })
          .where('id', '=', listing.id)
          .execute();
        return reviewsOf(tx, listing.id).where('reviewer', '=', reviewer).executeTakeFirstOrThrow();
      });
      await rankReviews(db, [reviewer]);
      return toReview(written);
    },

    async list(listingId, { limit, offset }) {
      const { id } = await listings.find(listingId);
      const { review_count, rating_counts } = await db
        .selectFrom('listings')
        .select(['review_count', 'rating_counts'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      const rows = await reviewsOf(db, id)
        .orderBy('updated_at', 'desc')
        .orderBy('reviewer')
        .limit(limit)
        .offset(offset)
        .execute();
      const [one = 0, two = 0, three = 0, four = 0, five = 0] = rating_counts;
      return {
        reviews: rows.map(toReview),
        total: review_count,
        rating_counts: { 1: one, 2: two, 3: three, 4: four, 5: five },
        limit,
        offset,
      };
    },

    async answer(creator, listingId, reviewer, text) {
      const listing = await listings.find(listingId);
      if (listing.creator !== creator) throw new ApiError('listing_not_found', 'You have no such listing.');
      const answer = text === null ? null : cleanText(text);
      if (answer === '') throw new ApiError('invalid_request', 'text: it has nothing to read.');
      await db
        .updateTable('reviews')
        .set({ answer, answered_at: answer === null ? null : sql`now()` })
        .where('listing_id', '=', listing.id)
        .where('reviewer', '=', reviewer)
        .execute();
      const answered = await reviewsOf(db, listing.id).where('reviewer', '=', reviewer).executeTakeFirst();
      if (!answered) throw new ApiError('not_found', 'That wallet has no review of this listing.');
      return toReview(answered);
    },
  };
}

/** Finished runs of a reviewer, other than a free first run. */
const paidRuns = sql<number>`(
  select count(*) from (
    select from runs
    where runs.wallet = reviews.reviewer and runs.listing_id = reviews.listing_id
      and runs.status in ('completed', 'failed') and not runs.is_trial
    limit ${sql.lit(PAID_RUNS_COUNTED)}
  ) as paid)::integer`.as('paid_runs');

function toReview(row: Selectable<Database['reviews']> & { paid_runs: number }): Review {
  return {
    reviewer: row.reviewer,
    rating: row.rating,
    comment: row.comment,
    paid_runs: row.paid_runs,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    ...(row.answer === null || row.answered_at === null
      ? {}
      : { answer: { text: row.answer, answered_at: row.answered_at.toISOString() } }),
  };
}
