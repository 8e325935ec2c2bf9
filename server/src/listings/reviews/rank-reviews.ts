import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import { rentedElsewhere } from '../rented-elsewhere.js';

/**
 * Lets reviews of these wallets count for the order by rating, once their wallet has also rented an agent of another
 * creator. To be called after a commit that stored a review or a rental: the second of both calls sees both rows.
 */
export async function rankReviews(db: Db, reviewers: readonly string[]): Promise<void> {
  const { rows } = await sql<{ listing_id: string; reviewer: string }>`
    select reviews.listing_id, reviews.reviewer
    from reviews join listings on listings.id = reviews.listing_id
    where reviews.reviewer = any (${reviewers}) and not reviews.ranks
      and ${rentedElsewhere(sql`reviews.reviewer`, sql`listings.creator`)}`.execute(db);
  // One listing in a transaction, locked before its review as a writer does it: nothing waits in a circle.
  for (const { listing_id: listingId, reviewer } of rows) {
    await db.transaction().execute(async (tx) => {
      await sql`select from listings where id = ${listingId} for no key update`.execute(tx);
      await sql`
        with ranked as (
          update reviews set ranks = true
          where listing_id = ${listingId} and reviewer = ${reviewer} and not ranks returning rating
        )
        update listings set ranked_rating_sum = ranked_rating_sum + ranked.rating, ranked_review_count = ranked_review_count + 1
        from ranked where id = ${listingId}`.execute(tx);
    });
  }
}
