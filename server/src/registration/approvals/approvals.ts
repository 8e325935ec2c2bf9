import type { Selectable } from 'kysely';
import type { Db } from '../../database/connection.js';
import type { Database } from '../../database/schema.js';

/** A registration that waits for the operator. */
export type PendingReview = Pick<
  Selectable<Database['listings']>,
  | 'id'
  | 'creator'
  | 'title'
  | 'description'
  | 'category'
  | 'rental_model'
  | 'price_lamports'
  | 'metadata_uri'
  | 'created_at'
>;

/** The operator's decisions on first versions. */
export interface Reviews {
  /** Longest waiting first. */
  pending(): Promise<PendingReview[]>;
  /** Decides on a draft; false when there is no such draft. A decision may be changed until it is published. */
  decide(
    listingId: string,
    decision: { approved: true } | { approved: false; reason: string },
  ): Promise<boolean>;
}

export function createReviews(db: Db): Reviews {
  return {
    pending: () =>
      db
        .selectFrom('listings')
        .select([
          'id',
          'creator',
          'title',
          'description',
          'category',
          'rental_model',
          'price_lamports',
          'metadata_uri',
          'created_at',
        ])
        .where('status', '=', 'draft')
        .where('review_state', '=', 'pending')
        .orderBy('created_at')
        .orderBy('id')
        .execute(),

    async decide(listingId, decision) {
      const decided = await db
        .updateTable('listings')
        .set({
          review_state: decision.approved ? 'approved' : 'rejected',
          review_reason: decision.approved ? null : decision.reason,
        })
        .where('id', '=', listingId)
        .where('status', '=', 'draft')
        .executeTakeFirst();
      return decided.numUpdatedRows === 1n;
    },
  };
}
