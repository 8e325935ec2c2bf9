import type { ListingTerms } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import type { enqueueTask } from '../../jobs/jobs.js';
import { beginSampleRun } from '../drafts/creator-limits.js';
import type { VersionRow } from '../repository.js';

/** Name of the background task that runs a listing to check whether it works. */
export const HEALTH_TASK = 'check_health';

/** A lower priority than the tasks of registrations and publications. */
const PRIORITY = 1_000;

/** A listing to run. */
interface CheckedListing {
  creator: string;
  version: VersionRow;
  sampleInput: ListingTerms['sample_input'];
}

/** Keeps the schedule of health checks, and their results. */
export interface HealthRepository {
  /**
   * Queues the runs of due listings, at most `most`, and returns their number. Some listings need no run and are due again
   * the next night. These are not on sale, were excluded by their creator, or had a renter's result in the last day.
   */
  queueDue(most: number): Promise<number>;
  /** An active listing whose creator allows health checks. */
  find(listingId: string): Promise<CheckedListing | undefined>;
  /**
   * Counts a run of a creator's listing. False at the creator's daily limit: then the listing comes first in the next
   * night.
   */
  begin(listingId: string, creator: string): Promise<boolean>;
  /** Stores the result of a run. @param problem why it failed */
  note(listingId: string, versionId: string, problem: string | null): Promise<void>;
}

export function createHealthRepository(db: Db, enqueue: typeof enqueueTask): HealthRepository {
  return {
    queueDue: (most) =>
      db.transaction().execute(async (tx) => {
        const { rows } = await sql<{ id: string; creator: string }>`
          with due as materialized (
            select listing_id from listing_health where due_at <= now() order by due_at limit ${most}
            for update skip locked
          ), moved as (
            update listing_health set due_at = next_health_check(listing_id)
            where listing_id = any (array(select listing_id from due)) returning listing_id
          )
          select id, creator from listings
          where id = any (array(select listing_id from moved)) and status = 'active' and health_checks and not exists (
            select from listing_stats as done where done.listing_id = listings.id and grain = 'hour'
              and started_at > now() - interval '24 hours' and measure = 'completed'
          )`.execute(tx);
        for (const { id, creator } of rows) {
          // In the queue of its creator's sample runs: an agent that does not answer delays only its own.
          const options = { queue: `review-runs:${creator}`, maxAttempts: 1, priority: PRIORITY };
          await enqueue(tx, HEALTH_TASK, { listing_id: id }, { ...options, key: `${HEALTH_TASK}:${id}` });
        }
        return rows.length;
      }),
    async find(listingId) {
      const found = await db
        .selectFrom('listings')
        .innerJoin('agent_versions', 'agent_versions.id', 'listings.version_id')
        .selectAll('agent_versions')
        .select(['listings.creator', 'listings.sample_input'])
        .where('listings.id', '=', listingId)
        .where('listings.status', '=', 'active')
        .where('listings.health_checks', '=', true)
        .executeTakeFirst();
      if (!found) return undefined;
      const { creator, sample_input, ...version } = found;
      return { creator, version, sampleInput: (sample_input ?? undefined) as ListingTerms['sample_input'] };
    },
    async begin(listingId, creator) {
      if (await beginSampleRun(db, creator, 'health')) return true;
      await db
        .updateTable('listing_health')
        .set({ due_at: sql<Date>`now()` })
        .where('listing_id', '=', listingId)
        .execute();
      return false;
    },
    async note(listingId, versionId, problem) {
      await sql`select note_health_check(${listingId}, ${versionId}::uuid, ${problem}::text)`.execute(db);
    },
  };
}
