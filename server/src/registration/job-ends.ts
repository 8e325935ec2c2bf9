import { type Insertable, type Selectable } from 'kysely';
import type { Db } from '../database/connection.js';
import type { Database } from '../database/schema.js';
import { findOverflow, lockCreator, MOST_FAILED_JOBS } from './drafts/creator-limits.js';
import { reviewStateAfterChange, type ReviewMode } from './approvals/approval-state.js';

/** What a registration writes. */
interface NewDraft {
  listing: Insertable<Database['listings']>;
  version: Insertable<Database['agent_versions']>;
  /** The review is to run the agent, for samples. */
  wantsSamples: boolean;
}

/** What an update writes. */
interface VersionUpdate {
  wallet: string;
  listingId: string;
  /** The version that the update was made of, as it was read. */
  base: Selectable<Database['agent_versions']>;
  version: Insertable<Database['agent_versions']> & { metadata_uri: string };
  listing: Pick<Insertable<Database['listings']>, 'description' | 'category'>;
  review: ReviewMode;
  /** The review is to run the agent, should the listing be without samples. */
  wantsSamples: boolean;
}

/**
 * How the end of a job was written down. `refused`: nothing was, because the creator's unpublished agents would be larger
 * than they may be. `outdated`: nothing was, because what it was made of has changed, or the job has ended before.
 */
type JobEnd = { end: 'done' } | { end: 'outdated' } | { end: 'refused'; reason: string };

/** Writes down how jobs end. */
export interface JobEnds {
  /** The creator's last failed jobs are kept, and no more. */
  rejectJob(id: string, error: Record<string, unknown>): Promise<void>;
  completeJob(id: string, draft: NewDraft): Promise<JobEnd>;
  /**
   * Makes a new version the one that runs, if the present one is still what the update was made of: otherwise the update
   * has to be made again, of what is there now. A draft's approval stays with the version that it was given for.
   */
  completeUpdate(jobId: string, update: VersionUpdate): Promise<JobEnd>;
}

/** `requestSamples` queues a run for samples, in the transaction. */
export function createJobEnds(db: Db, requestSamples: (tx: Db, listingId: string) => Promise<void>): JobEnds {
  return {
    async rejectJob(id, error) {
      const failed = await db
        .updateTable('registration_jobs')
        .set({ status: 'failed', error: JSON.stringify(error), body: null })
        .where('id', '=', id)
        .where('status', '=', 'queued')
        .returning('wallet')
        .executeTakeFirst();
      if (!failed) return;
      await db
        .deleteFrom('registration_jobs')
        .where('id', 'in', (eb) =>
          eb
            .selectFrom('registration_jobs')
            .select('id')
            .where('wallet', '=', failed.wallet)
            .where('status', '=', 'failed')
            .orderBy('created_at', 'desc')
            .offset(MOST_FAILED_JOBS),
        )
        .execute();
    },
    completeJob: (id, { listing, version, wantsSamples }) =>
      endJob(db, async (tx) => {
        await lockCreator(tx, listing.creator);
        const done = await tx
          .updateTable('registration_jobs')
          .set({ status: 'completed', body: null })
          .where('id', '=', id)
          .where('status', '=', 'queued')
          .executeTakeFirst();
        // The task ran twice: the first time stands.
        if (done.numUpdatedRows !== 1n) return { end: 'outdated' };
        await tx
          .insertInto('creators')
          .values({ wallet: listing.creator, display_name: null })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        await tx.insertInto('listings').values(listing).execute();
        await tx.insertInto('agent_versions').values(version).execute();
        await tx
          .updateTable('registration_jobs')
          .set({ listing_id: listing.id })
          .where('id', '=', id)
          .execute();
        await requireNoOverflow(tx, listing.creator);
        if (wantsSamples) await requestSamples(tx, listing.id);
        return { end: 'done' };
      }),
    completeUpdate: (jobId, { wallet, listingId, base, version, listing, review, wantsSamples }) =>
      endJob(db, async (tx) => {
        await lockCreator(tx, wallet);
        const present = await tx
          .selectFrom('listings')
          .select(['version_id', 'status', 'review_state'])
          .where('id', '=', listingId)
          .forUpdate()
          .executeTakeFirst();
        if (present?.version_id !== base.id) return { end: 'outdated' };
        const { private_part: part } = await tx
          .selectFrom('agent_versions')
          .select('private_part')
          .where('id', '=', base.id)
          .executeTakeFirstOrThrow();
        // A key that was replaced meanwhile is in the same version, sealed anew.
        if (!part.equals(base.private_part)) return { end: 'outdated' };
        await tx.insertInto('agent_versions').values(version).execute();
        const isDraft = present.status === 'draft';
        const reviewState = isDraft
          ? reviewStateAfterChange(present.review_state, review)
          : present.review_state;
        await tx
          .updateTable('listings')
          .set({
            ...listing,
            version_id: version.id,
            updated_at: new Date(),
            // What is on-chain says the URI of a published listing.
            ...(isDraft ? { metadata_uri: version.metadata_uri } : {}),
            review_state: reviewState,
            review_reason: null,
            // Once it is published, the checks are enough.
            ...(!isDraft || reviewState === 'approved' ? { approved_version_id: version.id } : {}),
          })
          .where('id', '=', listingId)
          .execute();
        await tx
          .updateTable('registration_jobs')
          .set({ status: 'completed', body: null, listing_id: listingId })
          .where('id', '=', jobId)
          .where('status', '=', 'queued')
          .execute();
        if (isDraft) await requireNoOverflow(tx, wallet);
        if (wantsSamples) await requestSamples(tx, listingId);
        return { end: 'done' };
      }),
  };
}

/** Takes back what a job's end has written. */
class OverflowError extends Error {}

/** Runs what ends a job, in a transaction; what {@link requireNoOverflow} refuses is as if it had not been written. */
async function endJob(db: Db, write: (tx: Db) => Promise<JobEnd>): Promise<JobEnd> {
  try {
    return await db.transaction().execute(write);
  } catch (error) {
    if (error instanceof OverflowError) return { end: 'refused', reason: error.message };
    throw error;
  }
}

/** @throws OverflowError when the wallet's unpublished agents are larger than they may be. */
async function requireNoOverflow(tx: Db, wallet: string): Promise<void> {
  const overflow = await findOverflow(tx, wallet);
  if (overflow !== undefined) throw new OverflowError(overflow);
}
