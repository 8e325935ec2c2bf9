import { sql } from 'kysely';
import { ApiError } from '../platform/api-error.js';
import type { Db } from '../platform/database/database.js';

/** Runs of one listing at the same time (spec, "Limits"). */
const SEATS_PER_LISTING = 20;
/** Beyond a run's own time: waiting for its charge, and writing it down. */
const LEASE_SLACK_SECONDS = 90;

/** The seats of listings, shared by all replicas. A lease ends by itself if its replica dies. */
export interface Seats {
  /** @throws ApiError `rate_limit_exceeded` with `Retry-After` when every seat is taken. */
  take(listingId: string, runId: string, timeoutSeconds: number): Promise<void>;
  free(runId: string): Promise<void>;
  /** Frees every seat: only for a server that knows to be alone, at its start. */
  freeAll(): Promise<void>;
}

export function createSeats(db: Db): Seats {
  return {
    take: (listingId, runId, timeoutSeconds) =>
      db.transaction().execute(async (tx) => {
        await sql`select pg_advisory_xact_lock(hashtextextended(${listingId}, 0))`.execute(tx);
        const now = new Date();
        await tx
          .deleteFrom('seats')
          .where('listing_id', '=', listingId)
          .where('expires_at', '<=', now)
          .execute();
        const { taken } = await tx
          .selectFrom('seats')
          .select((eb) => eb.fn.countAll<bigint>().as('taken'))
          .where('listing_id', '=', listingId)
          .executeTakeFirstOrThrow();
        if (taken >= SEATS_PER_LISTING) {
          throw new ApiError(
            'rate_limit_exceeded',
            `All ${SEATS_PER_LISTING} concurrent runs of this agent are taken. Nothing was charged; try again.`,
            { retryAfterSeconds: 5 },
          );
        }
        const expiresAt = new Date(now.getTime() + (timeoutSeconds + LEASE_SLACK_SECONDS) * 1000);
        await tx
          .insertInto('seats')
          .values({ run_id: runId, listing_id: listingId, expires_at: expiresAt })
          .execute();
      }),
    async free(runId) {
      await db.deleteFrom('seats').where('run_id', '=', runId).execute();
    },
    async freeAll() {
      await db.deleteFrom('seats').execute();
    },
  };
}
