import type { ListingTerms } from '@agent-rental/contract';
import { sql, type Selectable } from 'kysely';
import type { Db } from '../database/connection.js';
import { requireNotBanned } from '../moderation/index.js';
import { inSnapshot } from '../database/snapshot.js';
import type { Database } from '../database/schema.js';
import { seenBy, type Owner } from '../access/owner.js';
import type { TaskOptions } from '../jobs/jobs.js';
import {
  beginSampleRun,
  hasPublished,
  lockCreator,
  requireRoom,
  takeTurn,
  type Storing,
} from './drafts/creator-limits.js';
import type { DraftRow } from './drafts/draft-row.js';
import { queueSecretTasks } from './versions/replaced-secrets.js';
import { runnableVersions, setPrivatePart, type RunnableVersion } from './versions/runnable-versions.js';
import { createJobEnds, type JobEnds } from './job-ends.js';
import { createProbeRecords, requestProbe, type ProbeRecords } from './probes/probe-records.js';
import type { ListingColumns } from './manifest/listing-terms.js';

type JobRow = Selectable<Database['registration_jobs']>;
export type VersionRow = Selectable<Database['agent_versions']>;

/** A listing with the version that runs. */
export interface OwnListing {
  listing: DraftRow;
  version: VersionRow;
}

/** A version that was found without samples. */
interface UnshownVersion {
  version: VersionRow;
  sampleInput: ListingTerms['sample_input'];
  creator: string;
  /** The creator has published an agent, this one or another. */
  isPublisher: boolean;
}

/** Stores registrations: jobs, drafts and versions. */
export interface RegistrationRepository extends JobEnds, ProbeRecords {
  /**
   * Queues a job in the same transaction as its row, so that neither exists without the other.
   *
   * @throws ApiError where the wallet has no room, or is banned.
   */
  createJob(
    row: { id: string; owner: Owner; body: Buffer; updates: string | null },
    kind: Storing['kind'],
  ): Promise<void>;
  /** A job that this owner sees. */
  findJob(id: string, owner: Owner): Promise<JobRow | undefined>;
  /** A version of a listing by its number. */
  findVersion(listingId: string, number: number): Promise<VersionRow | undefined>;
  findQueuedJob(id: string): Promise<JobRow | undefined>;
  /** A listing of that creator in any state, with its present version; undefined when it is another creator's. */
  findOwn(listingId: string, creator: string): Promise<OwnListing | undefined>;
  /**
   * Seals the private parts of the runnable versions again, under the listing's lock. `change` returns an unchanged
   * part as it is. `isPresent` is true for the version that runs by default. Replaced secrets are removed at
   * `replacedUntil`.
   */
  reseal(
    listingId: string,
    creator: string,
    change: (version: RunnableVersion, isPresent: boolean) => Buffer,
    replacedUntil?: Date,
  ): Promise<boolean>;
  /** Queues a run for samples, of a listing that has none. */
  requestSamples(listingId: string): Promise<void>;
  /** Queues the check whether an agent can be reached: the run for samples, or a probe where it has samples. */
  requestLook(listingId: string): Promise<void>;
  /** The version that runs, of a listing that is not closed. */
  findPresentVersion(listingId: string): Promise<VersionRow | undefined>;
  /** The running version of a listing that has no sample. */
  findVersionWithoutSamples(listingId: string): Promise<UnshownVersion | undefined>;
  /** Counts one run for samples. False at the wallet's daily limit. */
  beginSampleRun(wallet: string): Promise<boolean>;
  /** Stores the samples from a run of that version, unless there are samples meanwhile or another version runs. */
  storeSamples(
    listingId: string,
    versionId: string,
    samples: { input: string | null; output: string[]; problem: string | null },
  ): Promise<void>;
  findDraft(listingId: string): Promise<DraftRow | undefined>;
  /**
   * Records the coming transaction that publishes a draft, and stores the changed columns of the listing. The row is
   * locked while `check` reads it; `check` throws to refuse.
   *
   * @throws ApiError where the creator is banned.
   */
  beginPublication(
    listingId: string,
    check: (draft: DraftRow | undefined) => {
      draft: DraftRow;
      columns: ListingColumns & { unverified_at: Date | null };
    },
  ): Promise<DraftRow>;
}

/** Name of the background task that validates a registration. */
export const REGISTRATION_TASK = 'validate_registration';
/** Name of the background task that runs an agent for its samples. */
export const SAMPLES_TASK = 'take_samples';

const SAMPLES_ATTEMPTS = 5;

/**
 * The sample runs of one creator run one after another, and creators with many drafts come after others. So a silent
 * agent, which uses its whole time limit, delays only its own creator.
 */
async function samplesQueue(tx: Db, creator: string): Promise<TaskOptions> {
  const { waiting } = await tx
    .selectFrom('listings')
    .select(({ fn }) => fn.countAll<string>().as('waiting'))
    .where('creator', '=', creator)
    .where('status', '!=', 'closed')
    .where('sample_output', '=', sql<never>`'[]'::jsonb`)
    .executeTakeFirstOrThrow();
  return { queue: `review-runs:${creator}`, maxAttempts: SAMPLES_ATTEMPTS, priority: Number(waiting) };
}

/** Puts a task into the queue, in a transaction. */
type Enqueue = (
  tx: Db,
  task: string,
  payload: Record<string, string>,
  options?: TaskOptions,
) => Promise<void>;

export function createRegistrationRepository(db: Db, enqueue: Enqueue): RegistrationRepository {
  const requestSamples = async (tx: Db, listingId: string): Promise<boolean> => {
    const listing = await withoutSamples(tx, listingId).select('creator').executeTakeFirst();
    if (!listing) return false;
    // Another run is under way: the problem of the earlier one does not count any more.
    await tx.updateTable('listings').set({ sample_problem: null }).where('id', '=', listingId).execute();
    const options = await samplesQueue(tx, listing.creator);
    await enqueue(tx, SAMPLES_TASK, { listing_id: listingId }, options);
    return true;
  };
  const probes = createProbeRecords(db, enqueue);
  return {
    ...createJobEnds(db, {
      requestSamples,
      requestProbe: (tx, probed) => requestProbe(tx, enqueue, probed),
    }),
    ...probes,
    createJob: ({ id, owner: { wallet, apiKeyId = null }, body, updates }, kind) =>
      db.transaction().execute(async (tx) => {
        await lockCreator(tx, wallet);
        await requireNotBanned(tx, wallet);
        await requireRoom(tx, { wallet, bytes: body.length, kind });
        await tx
          .insertInto('registration_jobs')
          .values({
            id,
            wallet,
            api_key_id: apiKeyId,
            status: 'queued',
            body,
            error: null,
            listing_id: null,
            updates,
          })
          .execute();
        await enqueue(tx, REGISTRATION_TASK, { job_id: id }, await takeTurn(tx, wallet));
      }),
    findJob: (id, owner) => {
      const [column, value] = seenBy(owner);
      return db
        .selectFrom('registration_jobs')
        .selectAll()
        .where('id', '=', id)
        .where(column, '=', value)
        .executeTakeFirst();
    },
    findVersion: (listingId, number) =>
      db
        .selectFrom('agent_versions')
        .selectAll()
        .where('listing_id', '=', listingId)
        .where('number', '=', number)
        .executeTakeFirst(),
    findQueuedJob: (id) =>
      db
        .selectFrom('registration_jobs')
        .selectAll()
        .where('id', '=', id)
        .where('status', '=', 'queued')
        .executeTakeFirst(),
    findOwn: (listingId, creator) =>
      // Between two statements an update may replace the version and take its private part.
      inSnapshot(db, async (tx) => {
        const listing = await tx
          .selectFrom('listings')
          .selectAll()
          .where('id', '=', listingId)
          .where('creator', '=', creator)
          .executeTakeFirst();
        if (!listing) return undefined;
        const version = await tx
          .selectFrom('agent_versions')
          .selectAll()
          .where('id', '=', listing.version_id)
          .executeTakeFirstOrThrow();
        return { listing, version };
      }),
    reseal: (listingId, creator, change, replacedUntil) =>
      db.transaction().execute(async (tx) => {
        const listing = await tx
          .selectFrom('listings')
          .select('version_id')
          .where('id', '=', listingId)
          .where('creator', '=', creator)
          .forUpdate()
          .executeTakeFirst();
        if (!listing) return false;
        for (const version of await runnableVersions(tx, listingId)) {
          const part = change(version, version.id === listing.version_id);
          if (!part.equals(version.private_part)) await setPrivatePart(tx, version.id, part);
        }
        if (replacedUntil) await queueSecretTasks(tx, enqueue, { listingId, until: replacedUntil });
        return true;
      }),
    requestSamples: async (listingId) => void (await requestSamples(db, listingId)),
    async requestLook(listingId) {
      if (!(await requestSamples(db, listingId))) await probes.requestProbe(listingId);
    },
    findPresentVersion: (listingId) =>
      db
        .selectFrom('listings')
        .innerJoin('agent_versions', 'agent_versions.id', 'listings.version_id')
        .selectAll('agent_versions')
        .where('listings.id', '=', listingId)
        .where('listings.status', '!=', 'closed')
        .executeTakeFirst(),
    async findVersionWithoutSamples(listingId) {
      const found = await withoutSamples(db, listingId)
        .innerJoin('agent_versions', 'agent_versions.id', 'listings.version_id')
        .selectAll('agent_versions')
        .select(['listings.sample_input', 'listings.creator'])
        .executeTakeFirst();
      if (!found) return undefined;
      const { sample_input, creator, ...version } = found;
      const sampleInput = (sample_input ?? undefined) as ListingTerms['sample_input'];
      return { version, sampleInput, creator, isPublisher: await hasPublished(db, creator) };
    },
    beginSampleRun: (wallet) => beginSampleRun(db, wallet),
    async storeSamples(listingId, versionId, { input, output, problem }) {
      await db
        .updateTable('listings')
        .set({
          sample_output: JSON.stringify(output),
          sample_problem: problem,
          // A creator's input stays after a failure. The next run makes a new input in place of a made one.
          ...(output.length > 0 ? { sample_input: input } : {}),
        })
        .where('id', '=', listingId)
        .where('version_id', '=', versionId)
        .where('sample_output', '=', sql<never>`'[]'::jsonb`)
        .execute();
    },
    findDraft: (listingId) =>
      db.selectFrom('listings').selectAll().where('id', '=', listingId).executeTakeFirst(),
    beginPublication: (listingId, check) =>
      db.transaction().execute(async (tx) => {
        const { draft, columns } = check(
          await tx
            .selectFrom('listings')
            .selectAll()
            .where('id', '=', listingId)
            .forUpdate()
            .executeTakeFirst(),
        );
        await requireNotBanned(tx, draft.creator);
        return tx
          .updateTable('listings')
          .set({ ...columns, publication_proposed_at: sql`now()`, approved_version_id: draft.version_id })
          .where('id', '=', listingId)
          .returningAll()
          .executeTakeFirstOrThrow();
      }),
  };
}

/** A listing that is not closed and shows no sample. */
function withoutSamples(db: Db, listingId: string) {
  return db
    .selectFrom('listings')
    .where('listings.id', '=', listingId)
    .where('listings.status', '!=', 'closed')
    .where('listings.sample_output', '=', sql<never>`'[]'::jsonb`);
}
