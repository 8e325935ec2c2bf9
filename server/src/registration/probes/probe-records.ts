import { PROBES_PER_DAY } from '@agent-rental/contract';
import { sql, type Selectable } from 'kysely';
import type { Db } from '../../database/connection.js';
import type { Database } from '../../database/schema.js';
import type { TaskOptions } from '../../jobs/jobs.js';
import { lockCreator } from '../drafts/creator-limits.js';
import type { ProbeFailure, ProbeOutcome } from '../probe-outcome.js';

/** Name of the background task that probes an agent. */
export const PROBE_TASK = 'probe_agent';

const PROBE_ATTEMPTS = 5;
const DETAIL_CHARACTERS = 300;

/** The time that bounds on probes are counted over. */
const PROBE_DAY = sql<Date>`now() - interval '24 hours'`;

/** The record of an agent's last probe. */
export type ProbeRow = Selectable<Database['agent_probes']>;

/** Stores the results of probes. */
export interface ProbeRecords {
  findProbe(listingId: string): Promise<ProbeRow | undefined>;
  /** Asks for a probe of a listing's agent. False at the creator's daily limit. */
  requestProbe(listingId: string): Promise<boolean>;
  /**
   * Stores the result of a probe or a sample run of that version. False, and nothing stored, when another version
   * runs by then.
   */
  storeProbe(listingId: string, versionId: string, outcome: ProbeOutcome): Promise<boolean>;
}

/** Puts a task into the queue, in a transaction. */
type Enqueue = (
  tx: Db,
  task: string,
  payload: Record<string, string>,
  options?: TaskOptions,
) => Promise<void>;

/**
 * Asks for a probe, in a transaction. The probes of one creator run one after another. So a silent endpoint, which
 * uses its whole time limit, delays only its own creator.
 *
 * @param forgets whether the former result is for another address or key, and is deleted
 */
export async function requestProbe(
  tx: Db,
  enqueue: Enqueue,
  { listingId, creator, forgets }: { listingId: string; creator: string; forgets: boolean },
): Promise<boolean> {
  if (forgets) await tx.deleteFrom('agent_probes').where('listing_id', '=', listingId).execute();
  await lockCreator(tx, creator);
  const { requests } = await tx
    .selectFrom('probe_requests')
    .select((eb) => eb.fn.countAll<bigint>().as('requests'))
    .where('wallet', '=', creator)
    .where('created_at', '>', PROBE_DAY)
    .executeTakeFirstOrThrow();
  if (requests >= PROBES_PER_DAY) return false;
  await tx.insertInto('probe_requests').values({ wallet: creator }).execute();
  await sql`insert into agent_probes (listing_id, requested_at) values (${listingId}, now())
    on conflict (listing_id) do update set requested_at = now()`.execute(tx);
  const key = `probe:${listingId}`;
  await enqueue(
    tx,
    PROBE_TASK,
    { listing_id: listingId },
    { queue: `probes:${creator}`, maxAttempts: PROBE_ATTEMPTS, key },
  );
  return true;
}

export function createProbeRecords(db: Db, enqueue: Enqueue): ProbeRecords {
  return {
    findProbe: (listingId) =>
      db.selectFrom('agent_probes').selectAll().where('listing_id', '=', listingId).executeTakeFirst(),

    requestProbe: (listingId) =>
      db.transaction().execute(async (tx) => {
        const listing = await tx
          .selectFrom('listings')
          .select('creator')
          .where('id', '=', listingId)
          .where('status', '!=', 'closed')
          .executeTakeFirst();
        if (!listing) return false;
        return requestProbe(tx, enqueue, { listingId, creator: listing.creator, forgets: false });
      }),

    storeProbe: (listingId, versionId, outcome) =>
      db.transaction().execute(async (tx) => {
        const present = await tx
          .selectFrom('listings')
          .select('id')
          .where('id', '=', listingId)
          .where('version_id', '=', versionId)
          .forNoKeyUpdate()
          .executeTakeFirst();
        if (!present) return false;
        if (outcome !== 'reached') {
          await storeFailure(tx, listingId, outcome);
          await tx
            .updateTable('agent_probes')
            .set({ requested_at: null, reached_at: null })
            .where('listing_id', '=', listingId)
            .execute();
          return true;
        }
        await sql`insert into agent_probes (listing_id, reached_at) values (${listingId}, now())
          on conflict (listing_id) do update set requested_at = null, reached_at = now(), unreachable_since = null,
            failed_at = null, reason = null, http_status = null, detail = null`.execute(tx);
        await tx
          .updateTable('listings')
          .set({ unverified_at: null })
          .where('id', '=', listingId)
          .where('unverified_at', 'is not', null)
          .execute();
        return true;
      }),
  };
}

/** Removes the requests for probes that no limit counts any more. */
export async function removeOldProbeRequests(db: Db): Promise<void> {
  await db.deleteFrom('probe_requests').where('created_at', '<=', PROBE_DAY).execute();
}

/** Stores that a run of the version that runs by default did not reach its agent; one of another version says nothing of it. */
export async function storeRunFailure(db: Db, versionId: string, failure: ProbeFailure): Promise<void> {
  const listing = await db
    .selectFrom('listings')
    .innerJoin('agent_versions', 'agent_versions.listing_id', 'listings.id')
    .select('listings.id')
    .where('agent_versions.id', '=', versionId)
    .whereRef('listings.version_id', '=', 'agent_versions.id')
    .executeTakeFirst();
  if (listing) await storeFailure(db, listing.id, failure);
}

/**
 * In SQL: whether a run succeeded since the agent's last failure. It reads the runs, so that a successful run writes
 * nothing.
 */
export const SUCCEEDED_SINCE = `exists (
  select from runs where runs.listing_id = agent_probes.listing_id and runs.created_at > agent_probes.failed_at
    and runs.status = 'completed')`;

async function storeFailure(tx: Db, listingId: string, failure: ProbeFailure): Promise<void> {
  const { reason, httpStatus = null, detail } = failure;
  const told = detail?.replaceAll('\0', '').slice(0, DETAIL_CHARACTERS) ?? null;
  await sql`insert into agent_probes (listing_id, unreachable_since, failed_at, reason, http_status, detail)
    values (${listingId}, now(), now(), ${reason}, ${httpStatus}::integer, ${told}::text)
    on conflict (listing_id) do update set
      unreachable_since = case
        when agent_probes.unreachable_since is null or ${sql.raw(SUCCEEDED_SINCE)} then now()
        else agent_probes.unreachable_since
      end,
      failed_at = now(), reason = excluded.reason, http_status = excluded.http_status, detail = excluded.detail`.execute(
    tx,
  );
}
