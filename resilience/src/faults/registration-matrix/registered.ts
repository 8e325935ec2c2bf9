import type { FaultMarket } from '../world/market.js';

/** The description that an update gives. */
export const CHANGED = 'Answers better.';

/** A creator of an interrupted change, with the job from the answer. */
interface Interrupted {
  wallet: string;
  /** The listing of an update. */
  listingId: string | undefined;
  jobId: string | undefined;
  isPublished: boolean;
}

/**
 * Whether a creator's jobs and the probes of its agents have ended.
 *
 * @param leastJobs the least number of the creator's jobs. An interrupted request may have left no job.
 */
export async function isAtRest(market: FaultMarket, wallet: string, leastJobs: number): Promise<boolean> {
  const [row] = await market.query<{ jobs: bigint; waiting: bigint; probes: bigint; tasks: bigint }>(
    `select
      (select count(*) from registration_jobs where wallet = $1) as jobs,
      (select count(*) from registration_jobs where wallet = $1 and status = 'queued') as waiting,
      (select count(*) from listings left join agent_probes on agent_probes.listing_id = listings.id
        where creator = $1 and (agent_probes.listing_id is null or requested_at is not null)) as probes,
      (select count(*) from graphile_worker._private_jobs as job where exists (
        select from registration_jobs where wallet = $1
          and job.payload->>'job_id' = registration_jobs.id::text)) as tasks`,
    [wallet],
  );
  if (row === undefined || Number(row.jobs) < leastJobs) return false;
  return Number(row.waiting) + Number(row.probes) + Number(row.tasks) === 0;
}

/** The faults in a creator's jobs and listings, after their end. */
export async function wrongOf(market: FaultMarket, { wallet, listingId, jobId, isPublished }: Interrupted) {
  type Job = Record<'id' | 'status', string> & Record<'error' | 'body' | 'listing_id' | 'updates', unknown>;
  const jobs = await market.query<Job>(
    'select id, status, error, body, listing_id, updates from registration_jobs where wallet = $1',
    [wallet],
  );
  type Listing = Record<'id' | 'status' | 'description', string> &
    Record<'versions' | 'blocks', bigint> &
    Record<'is_approved' | 'runs' | 'reached', boolean | null>;
  const listings = await market.query<Listing>(
    `select listings.id, listings.status, listings.description, approved_version_id = version_id as is_approved,
      (select count(*) from agent_versions where listing_id = listings.id) as versions,
      exists (select from agent_versions where id = version_id and listing_id = listings.id and private_part is not null) as runs,
      (select count(*) from content_blocks where listings.metadata_uri like '%' || cid || '%') as blocks,
      (select reached_at is not null and reason is null from agent_probes where listing_id = listings.id) as reached
     from listings where creator = $1`,
    [wallet],
  );
  const wrong: string[] = [];
  if (jobId !== undefined && !jobs.some(({ id }) => id === jobId))
    wrong.push(`the job ${jobId} of the answer is missing`);
  for (const { id, status, error, body } of jobs) {
    if (status === 'queued') wrong.push(`the job ${id} still waits`);
    if (status === 'failed' && error === null) wrong.push(`the job ${id} failed without a reason`);
    if (status === 'failed') wrong.push(`the job ${id} failed: ${JSON.stringify(error)}`);
    if (body !== null && status !== 'queued') wrong.push(`the job ${id} keeps its body`);
  }
  const completed = jobs.filter(({ status }) => status === 'completed');
  const made = completed.filter(({ updates }) => updates === null).length;
  if (listings.length !== made) wrong.push(`${made} registrations made ${listings.length} listings`);
  for (const listing of listings) {
    const updates = completed.filter(({ updates: id }) => id === listing.id).length;
    if (Number(listing.versions) !== 1 + updates)
      wrong.push(`${updates} updates made ${listing.versions} versions`);
    const status = isPublished ? 'active' : 'draft';
    if (listing.status !== status) wrong.push(`its status is ${listing.status}, not ${status}`);
    if (listing.runs !== true) wrong.push('its version cannot run');
    if (listing.is_approved !== true) wrong.push('its version is not approved');
    if (Number(listing.blocks) !== 1) wrong.push('its public part is not stored');
    if (listing.reached !== true) wrong.push('its probe has not reached the agent');
    const isChanged = listing.description === CHANGED;
    if (isChanged !== updates > 0)
      wrong.push(`${updates} updates, with the description "${listing.description}"`);
    if (!completed.some(({ listing_id: id }) => id === listing.id)) wrong.push('no job has made it');
  }
  if (listingId !== undefined && listings.length !== 1) wrong.push('the listing is gone');
  return wrong;
}
