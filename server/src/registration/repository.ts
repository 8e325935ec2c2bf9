import type { ListingTerms } from '@agent-rental/contract';
import { sql, type Insertable, type Selectable } from 'kysely';
import type { Db } from '../database/connection.js';
import type { Database } from '../database/schema.js';
import type { TaskOptions } from '../platform/jobs.js';

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
  /** The review is to run the agent, should the listing be without samples. */
  wantsSamples: boolean;
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
    draft: {
      listing: Insertable<Database['listings']>;
      version: Insertable<Database['agent_versions']>;
      /** The review is to run the agent, for samples. */
      wantsSamples: boolean;
    },
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
  /** Queues a run for samples, of a listing that has none. */
  requestSamples(listingId: string): Promise<void>;
  /** The version that runs, of a listing that nobody has shown a sample of. */
  findVersionWithoutSamples(
    listingId: string,
  ): Promise<{ version: VersionRow; sampleInput: ListingTerms['sample_input'] } | undefined>;
  /** Stores what a run of that version gave, unless there are samples meanwhile or another version runs. */
  storeSamples(
    listingId: string,
    versionId: string,
    samples: { input: string | null; output: string[]; problem: string | null },
  ): Promise<void>;
  findDraft(listingId: string): Promise<DraftRow | undefined>;
  setTerms(
    listingId: string,
    terms: Pick<Insertable<Database['listings']>, 'rental_model' | 'price_lamports' | 'min_deposit_lamports'>,
  ): Promise<void>;
}

/** Name of the background task that validates a registration. */
export const REGISTRATION_TASK = 'validate_registration';
/** Name of the background task that runs an agent for its samples. */
export const SAMPLES_TASK = 'take_samples';

/** One at a time: agents are slow, and are anybody's. */
const SAMPLES_QUEUE: TaskOptions = { queue: 'review-runs', maxAttempts: 5 };

/** Puts a task into the queue, in a transaction. */
type Enqueue = (
  tx: Db,
  task: string,
  payload: Record<string, string>,
  options?: TaskOptions,
) => Promise<void>;

export function createRegistrationRepository(db: Db, enqueue: Enqueue): RegistrationRepository {
  const requestSamples = async (tx: Db, listingId: string) => {
    const listing = await withoutSamples(tx, listingId).select('id').executeTakeFirst();
    if (listing) await enqueue(tx, SAMPLES_TASK, { listing_id: listingId }, SAMPLES_QUEUE);
  };
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
    completeJob: (id, { listing, version, wantsSamples }) =>
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
        if (wantsSamples) await requestSamples(tx, listing.id);
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
    completeUpdate: (jobId, { listingId, base, version, listing, reviewAfterRejection, wantsSamples }) =>
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
        if (wantsSamples) await requestSamples(tx, listingId);
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
    requestSamples: (listingId) => requestSamples(db, listingId),
    async findVersionWithoutSamples(listingId) {
      const listing = await withoutSamples(db, listingId)
        .select(['version_id', 'sample_input'])
        .executeTakeFirst();
      if (!listing) return undefined;
      const version = await db
        .selectFrom('agent_versions')
        .selectAll()
        .where('id', '=', listing.version_id)
        .executeTakeFirstOrThrow();
      const sampleInput = (listing.sample_input ?? undefined) as ListingTerms['sample_input'];
      return { version, sampleInput };
    },
    async storeSamples(listingId, versionId, { input, output, problem }) {
      await db
        .updateTable('listings')
        .set({
          sample_output: JSON.stringify(output),
          sample_problem: problem,
          // What a creator gave stays, whatever came of it; what was made up is made up again.
          ...(output.length > 0 ? { sample_input: input } : {}),
        })
        .where('id', '=', listingId)
        .where('version_id', '=', versionId)
        .where('sample_output', '=', sql<never>`'[]'::jsonb`)
        .execute();
    },
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

/** A listing that is not closed and shows no sample. */
function withoutSamples(db: Db, listingId: string) {
  return db
    .selectFrom('listings')
    .where('id', '=', listingId)
    .where('status', '!=', 'closed')
    .where('sample_output', '=', sql<never>`'[]'::jsonb`);
}
