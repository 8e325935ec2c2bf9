import { type Insertable, type Selectable } from 'kysely';
import type { Db } from '../database/connection.js';
import type { Database } from '../database/schema.js';
import type { DraftRow } from './drafts/draft-row.js';
import { runnableVersions, setPrivatePart, type RunnableVersion } from './versions/runnable-versions.js';
import type { ListingColumns } from './manifest/listing-terms.js';
import { findOverflow, lockCreator, MOST_FAILED_JOBS } from './drafts/creator-limits.js';
import { reviewStateAfterChange, type ReviewMode } from './approvals/approval-state.js';

/** The rows of a registration. */
interface NewDraft {
  listing: Insertable<Database['listings']>;
  version: Insertable<Database['agent_versions']>;
  /** The review is to run the agent, for samples. */
  wantsSamples: boolean;
  warnings: readonly Warning[];
}

/** The rows of an update. */
interface VersionUpdate {
  wallet: string;
  listingId: string;
  /** The version from which the update was made. */
  base: Selectable<Database['agent_versions']>;
  version: Insertable<Database['agent_versions']> & { metadata_uri: string };
  /** The listing at the time of the update. */
  present: Pick<DraftRow, 'status'>;
  listing: ListingColumns & Pick<Insertable<Database['listings']>, 'description' | 'category'>;
  review: ReviewMode;
  /** The review is to run the agent, should the listing be without samples. */
  wantsSamples: boolean;
  /** The result of the last probe holds for the new version. */
  isReachedAsBefore: boolean;
  warnings: readonly Warning[];
  /** The new private part of a runnable older version; null if the version cannot run any more. */
  older(version: RunnableVersion): Buffer | null;
}

/**
 * The result of storing a job's end. `refused`: nothing is stored, because the creator's unpublished agents would
 * exceed their limit. `outdated`: nothing is stored, because the job's source has changed, or the job ended before.
 */
type JobEnd = { end: 'done' } | { end: 'outdated' } | { end: 'refused'; reason: string };

/** A thing that a creator is told of a registration or an update, which refuses nothing. */
interface Warning {
  path: string;
  message: string;
}

/** The work that follows the end of a job, in its transaction. */
interface FollowUps {
  /** Queues a run for samples; false for a listing that has some. */
  requestSamples(tx: Db, listingId: string): Promise<boolean>;
  requestProbe(tx: Db, probed: { listingId: string; creator: string; forgets: boolean }): Promise<boolean>;
}

/** Writes down how jobs end. */
export interface JobEnds {
  /** The creator's last failed jobs are kept, and no more. */
  rejectJob(id: string, error: Record<string, unknown>): Promise<void>;
  completeJob(id: string, draft: NewDraft): Promise<JobEnd>;
  /**
   * Makes a new version the running one, if the update was made from the present version. Otherwise the caller makes
   * the update again, from the present version. A draft's approval stays with its version.
   */
  completeUpdate(jobId: string, update: VersionUpdate): Promise<JobEnd>;
  /**
   * Stores the changed columns of a listing, without a new version. False when the listing was published or closed
   * meanwhile.
   */
  completeListingChange(
    jobId: string,
    present: Pick<DraftRow, 'id' | 'creator' | 'status'>,
    columns: ListingColumns,
    warnings: readonly Warning[],
  ): Promise<boolean>;
}

/** The columns of a job that has ended well. */
const completed = (warnings: readonly Warning[]) =>
  ({
    status: 'completed',
    body: null,
    warnings: warnings.length === 0 ? null : JSON.stringify(warnings),
  }) as const;

export function createJobEnds(db: Db, { requestSamples, requestProbe }: FollowUps): JobEnds {
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
    completeJob: (id, { listing, version, wantsSamples, warnings }) =>
      endJob(db, async (tx) => {
        await lockCreator(tx, listing.creator);
        const done = await tx
          .updateTable('registration_jobs')
          .set(completed(warnings))
          .where('id', '=', id)
          .where('status', '=', 'queued')
          .executeTakeFirst();
        // The task ran twice: the first result counts.
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
        // A run that gives a sample tells that the agent is reached.
        const isRun = wantsSamples && (await requestSamples(tx, listing.id));
        const { id: listingId, creator } = listing;
        if (!isRun) await requestProbe(tx, { listingId, creator, forgets: false });
        return { end: 'done' };
      }),
    completeUpdate: (
      jobId,
      {
        wallet,
        listingId,
        base,
        version,
        present: judged,
        listing,
        review,
        wantsSamples,
        isReachedAsBefore,
        warnings,
        older,
      },
    ) =>
      endJob(db, async (tx) => {
        await lockCreator(tx, wallet);
        // The task ran twice: the first result counts.
        if (!(await isQueued(tx, jobId))) return { end: 'done' };
        const present = await tx
          .selectFrom('listings')
          .select(['version_id', 'status', 'review_state', 'approved_version_id'])
          .where('id', '=', listingId)
          .forUpdate()
          .executeTakeFirst();
        if (present?.version_id !== base.id || present.status !== judged.status) return { end: 'outdated' };
        const { private_part: part } = await tx
          .selectFrom('agent_versions')
          .select('private_part')
          .where('id', '=', base.id)
          .executeTakeFirstOrThrow();
        // A key that was replaced meanwhile is in the same version, sealed again.
        if (part === null || base.private_part === null || !part.equals(base.private_part)) {
          return { end: 'outdated' };
        }
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
            // The chain decides the URI of a published listing.
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
          .set({ ...completed(warnings), listing_id: listingId })
          .where('id', '=', jobId)
          .where('status', '=', 'queued')
          .execute();
        // After the listing is written: the approved version of a draft may still be published, by a transaction that is made.
        const kept = new Set([
          version.id,
          reviewState === 'approved' ? undefined : present.approved_version_id,
        ]);
        for (const each of await runnableVersions(tx, listingId)) {
          if (kept.has(each.id)) continue;
          const left = isDraft ? null : older(each);
          if (left === null || !left.equals(each.private_part)) await setPrivatePart(tx, each.id, left);
        }
        if (isDraft) await requireNoOverflow(tx, wallet);
        const isRun = wantsSamples && (await requestSamples(tx, listingId));
        const probe = await tx
          .selectFrom('agent_probes')
          .select(['reached_at', 'reason'])
          .where('listing_id', '=', listingId)
          .executeTakeFirst();
        const isReached = isReachedAsBefore && probe?.reached_at != null && probe.reason === null;
        if (isRun && !isReachedAsBefore) {
          await tx.deleteFrom('agent_probes').where('listing_id', '=', listingId).execute();
        }
        if (!isRun && !isReached) {
          await requestProbe(tx, { listingId, creator: wallet, forgets: !isReachedAsBefore });
        }
        return { end: 'done' };
      }),
    completeListingChange: (jobId, present, columns, warnings) =>
      db.transaction().execute(async (tx) => {
        await lockCreator(tx, present.creator);
        // The task ran twice: the first result counts.
        if (!(await isQueued(tx, jobId))) return true;
        const changed = await tx
          .updateTable('listings')
          .set({ ...columns, updated_at: new Date() })
          .where('id', '=', present.id)
          .where('status', '=', present.status)
          .executeTakeFirst();
        if (changed.numUpdatedRows !== 1n) return false;
        await tx
          .updateTable('registration_jobs')
          .set({ ...completed(warnings), listing_id: present.id })
          .where('id', '=', jobId)
          .execute();
        if (columns.sample_input !== undefined) await requestSamples(tx, present.id);
        return true;
      }),
  };
}

/** Whether a job has not ended yet. Under the lock of its creator no other task ends it meanwhile. */
async function isQueued(tx: Db, jobId: string): Promise<boolean> {
  const job = await tx
    .selectFrom('registration_jobs')
    .select('status')
    .where('id', '=', jobId)
    .executeTakeFirst();
  return job?.status === 'queued';
}

/** Rolls back the transaction of a job's end. */
class OverflowError extends Error {}

/** Ends a job in a transaction. A refusal by {@link requireNoOverflow} rolls it back. */
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
