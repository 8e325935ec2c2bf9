import { sql, type Insertable, type Selectable } from 'kysely';
import type { Db } from '../platform/database/database.js';
import type { Database } from '../platform/database/schema.js';

export type JobRow = Selectable<Database['registration_jobs']>;
export type VersionRow = Selectable<Database['agent_versions']>;
export type DraftRow = Selectable<Database['listings']>;

/** A listing with the version that runs. */
export interface OwnListing {
  listing: DraftRow;
  version: VersionRow;
}

/** What an update writes. */
export interface VersionUpdate {
  listingId: string;
  /** The version that the update was made of, as it was read. */
  base: VersionRow;
  version: Insertable<Database['agent_versions']> & { metadata_uri: string };
  listing: Pick<Insertable<Database['listings']>, 'description' | 'category'>;
  /** What becomes of a review that had ended with a refusal; one that approved or is under way stays. */
  reviewAfterRejection: 'pending' | 'approved';
}

/** Stores registrations: jobs, drafts and versions. */
export interface RegistrationRepository {
  /** Queues a job in the same transaction as its row, so that neither exists without the other. */
  createJob(row: { id: string; wallet: string; body: Buffer }): Promise<void>;
  findJob(id: string, wallet: string): Promise<JobRow | undefined>;
  findQueuedJob(id: string): Promise<JobRow | undefined>;
  rejectJob(id: string, error: Record<string, unknown>): Promise<void>;
  completeJob(
    id: string,
    draft: { listing: Insertable<Database['listings']>; version: Insertable<Database['agent_versions']> },
  ): Promise<void>;
  /** A listing of that creator, in whatever state, with its present version; undefined when it is another's. */
  findOwn(listingId: string, creator: string): Promise<OwnListing | undefined>;
  /**
   * Makes a new version the one that runs, if the present one is still what the update was made of. False when it is
   * not: the update has to be made again, of what is there now.
   */
  completeUpdate(jobId: string, update: VersionUpdate): Promise<boolean>;
  /** Seals the private part of the present version anew, under the listing's lock. */
  reseal(listingId: string, creator: string, change: (version: VersionRow) => Buffer): Promise<boolean>;
  findDraft(listingId: string): Promise<DraftRow | undefined>;
  setTerms(
    listingId: string,
    terms: Pick<Insertable<Database['listings']>, 'rental_model' | 'price_lamports' | 'min_deposit_lamports'>,
  ): Promise<void>;
}

/** Name of the background task that validates a registration. */
export const REGISTRATION_TASK = 'validate_registration';

export function createRegistrationRepository(
  db: Db,
  enqueue: (tx: Db, task: string, payload: Record<string, string>) => Promise<void>,
): RegistrationRepository {
  return {
    createJob: ({ id, wallet, body }) =>
      db.transaction().execute(async (tx) => {
        await tx
          .insertInto('registration_jobs')
          .values({ id, wallet, status: 'queued', body, error: null, listing_id: null })
          .execute();
        await enqueue(tx, REGISTRATION_TASK, { job_id: id });
      }),
    findJob: (id, wallet) =>
      db
        .selectFrom('registration_jobs')
        .selectAll()
        .where('id', '=', id)
        .where('wallet', '=', wallet)
        .executeTakeFirst(),
    findQueuedJob: (id) =>
      db
        .selectFrom('registration_jobs')
        .selectAll()
        .where('id', '=', id)
        .where('status', '=', 'queued')
        .executeTakeFirst(),
    async rejectJob(id, error) {
      await db
        .updateTable('registration_jobs')
        .set({ status: 'failed', error: JSON.stringify(error), body: null })
        .where('id', '=', id)
        .where('status', '=', 'queued')
        .execute();
    },
    completeJob: (id, { listing, version }) =>
      db.transaction().execute(async (tx) => {
        const done = await tx
          .updateTable('registration_jobs')
          .set({ status: 'completed', body: null })
          .where('id', '=', id)
          .where('status', '=', 'queued')
          .executeTakeFirst();
        // The task ran twice: the first time stands.
        if (done.numUpdatedRows !== 1n) return;
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
      }),
    async findOwn(listingId, creator) {
      const listing = await db
        .selectFrom('listings')
        .selectAll()
        .where('id', '=', listingId)
        .where('creator', '=', creator)
        .executeTakeFirst();
      if (!listing) return undefined;
      const version = await db
        .selectFrom('agent_versions')
        .selectAll()
        .where('id', '=', listing.version_id)
        .executeTakeFirstOrThrow();
      return { listing, version };
    },
    completeUpdate: (jobId, { listingId, base, version, listing, reviewAfterRejection }) =>
      db.transaction().execute(async (tx) => {
        const present = await tx
          .selectFrom('listings')
          .select('version_id')
          .where('id', '=', listingId)
          .forUpdate()
          .executeTakeFirstOrThrow();
        const { private_part: part } = await tx
          .selectFrom('agent_versions')
          .select('private_part')
          .where('id', '=', present.version_id)
          .executeTakeFirstOrThrow();
        // A key that was replaced meanwhile is in the same version, sealed anew.
        if (present.version_id !== base.id || !part.equals(base.private_part)) return false;
        await tx.insertInto('agent_versions').values(version).execute();
        await tx
          .updateTable('listings')
          .set({
            ...listing,
            version_id: version.id,
            updated_at: new Date(),
            // What is on-chain says the URI of a published listing.
            metadata_uri: sql`case when status = 'draft' then ${version.metadata_uri} else metadata_uri end`,
            review_state: sql`case when review_state = 'rejected' then ${reviewAfterRejection} else review_state end`,
          })
          .where('id', '=', listingId)
          .execute();
        await tx
          .updateTable('registration_jobs')
          .set({ status: 'completed', body: null, listing_id: listingId })
          .where('id', '=', jobId)
          .where('status', '=', 'queued')
          .execute();
        return true;
      }),
    reseal: (listingId, creator, change) =>
      db.transaction().execute(async (tx) => {
        const listing = await tx
          .selectFrom('listings')
          .select('version_id')
          .where('id', '=', listingId)
          .where('creator', '=', creator)
          .forUpdate()
          .executeTakeFirst();
        if (!listing) return false;
        const version = await tx
          .selectFrom('agent_versions')
          .selectAll()
          .where('id', '=', listing.version_id)
          .executeTakeFirstOrThrow();
        await tx
          .updateTable('agent_versions')
          .set({ private_part: change(version) })
          .where('id', '=', version.id)
          .execute();
        return true;
      }),
    findDraft: (listingId) =>
      db.selectFrom('listings').selectAll().where('id', '=', listingId).executeTakeFirst(),
    async setTerms(listingId, terms) {
      await db
        .updateTable('listings')
        .set(terms)
        .where('id', '=', listingId)
        .where('status', '=', 'draft')
        .execute();
    },
  };
}
