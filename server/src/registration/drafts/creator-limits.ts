import { HEALTH_RUNS_PER_DAY, SAMPLE_RUNS_PER_DAY } from '@agent-rental/contract';
import { sql } from 'kysely';
import { ApiError } from '../../errors/api-error.js';
import type { Db } from '../../database/connection.js';
import type { TaskOptions } from '../../jobs/jobs.js';

const MIB = 1024 * 1024;

/** The limits on a wallet's unpublished agents. */
interface DraftLimits {
  drafts: number;
  /** Of all their versions, as the database holds them. */
  bytes: number;
}

/** Publishing costs SOL: before it, storing must not be free. */
export const DRAFT_LIMITS = {
  beforePublication: { drafts: 20, bytes: 4 * MIB },
  afterPublication: { drafts: 100, bytes: 16 * MIB },
} as const satisfies Record<string, DraftLimits>;
/** New versions of published agents that a wallet may store within 24 hours. */
export const LISTED_BYTES_PER_DAY = 16 * MIB;
/** Jobs of one wallet that may wait at once. */
export const MOST_WAITING_JOBS = 20;
/** Registrations and changes of a wallet within 24 hours before its first publication; deleting an agent gives none back. */
export const JOBS_PER_DAY = 60;
/** Failed jobs of one wallet that are kept. */
export const MOST_FAILED_JOBS = 100;
/** Days after which a draft that is neither changed nor published is removed. */
export const DRAFT_DAYS = 30;

/** The time that bounds on sample runs are counted over. */
const SAMPLE_RUN_DAY = sql<Date>`now() - interval '24 hours'`;

const HOW_TO_MAKE_ROOM =
  'Publish one (POST /v1/transactions {"action": "publish", ...}) or delete one (DELETE /v1/agents/:listing_id)';

/** The data that a request wants to store. */
export interface Storing {
  wallet: string;
  /** Of the request's body, as it waits for its job. */
  bytes: number;
  /** `listed`: a new version of a published agent. */
  kind: 'registration' | 'draft' | 'listed';
}

/** Locks a creator, so that two requests cannot both take the last place. Call it first in a transaction. */
export async function lockCreator(tx: Db, wallet: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`creator:${wallet}`}, 0))`.execute(tx);
}

/**
 * Refuses data beyond the limits of a wallet. Waiting jobs count, so that an accepted registration has its place.
 *
 * @throws ApiError 429 `rate_limit_exceeded` if there is room later, 400 `invalid_request` if there is never room.
 */
export async function requireRoom(tx: Db, { wallet, bytes, kind }: Storing): Promise<void> {
  const waiting = await waitingJobs(tx, wallet);
  if (waiting.jobs >= MOST_WAITING_JOBS) {
    throw new ApiError(
      'rate_limit_exceeded',
      `${waiting.jobs} registrations and changes of this wallet wait for their jobs, which is the most.`,
      { next: 'Send this one when GET /v1/jobs/:job_id says that one of them has ended.' },
    );
  }
  if (kind === 'listed') {
    const stored = await listedBytesOfToday(tx, wallet);
    if (stored + waiting.bytes + bytes <= LISTED_BYTES_PER_DAY) return;
    throw new ApiError(
      'rate_limit_exceeded',
      `New versions of this wallet's agents took ${stored} bytes within 24 hours; the most is ${LISTED_BYTES_PER_DAY}.`,
      { retryAfterSeconds: 3600 },
    );
  }
  const limits = await draftLimits(tx, wallet);
  const stored = await storedDrafts(tx, wallet);
  if (kind === 'registration' && stored.drafts + waiting.registrations >= limits.drafts) {
    throw new ApiError(
      'invalid_request',
      `The wallet has ${stored.drafts + waiting.registrations} unpublished agents; the most is ` +
        `${limits.drafts}${beforePublication(limits)}.`,
      {
        next:
          `${HOW_TO_MAKE_ROOM}${await forInstance(tx, wallet)}. An unchanged draft lapses after ` +
          `${DRAFT_DAYS} days.`,
      },
    );
  }
  if (stored.bytes + waiting.bytes + bytes > limits.bytes) {
    throw new ApiError('invalid_request', tooManyBytes(stored.bytes + waiting.bytes + bytes, limits), {
      next: `${HOW_TO_MAKE_ROOM}.`,
    });
  }
}

/**
 * Counts a job, and gives its turn. The jobs of a wallet run one after another. Wallets that have published or rented go first.
 * Among the others, those with fewer jobs today go first, so many jobs delay no first job of another wallet.
 *
 * @throws ApiError `rate_limit_exceeded` for a wallet that never published and used its jobs of the day.
 */
export async function takeTurn(tx: Db, wallet: string): Promise<TaskOptions> {
  const isPublisher = await hasPublished(tx, wallet);
  const before = await countToday(tx, wallet, 'job');
  if (!isPublisher && before >= JOBS_PER_DAY) {
    throw new ApiError(
      'rate_limit_exceeded',
      `This wallet has sent ${before} registrations and changes within 24 hours; the most is ${JOBS_PER_DAY} before the ` +
        'first publication. Deleted agents count.',
      { next: 'Publish an agent, or try again later.', retryAfterSeconds: 3600 },
    );
  }
  await tx.insertInto('sample_runs').values({ wallet, kind: 'job' }).execute();
  return {
    queue: `registrations:${wallet}`,
    priority:
      isPublisher || (await hasRented(tx, wallet)) ? Math.min(before, JOBS_PER_DAY) : JOBS_PER_DAY + before,
  };
}

/** The problem with a wallet whose unpublished agents are larger than its limit; undefined without one. */
export async function findOverflow(tx: Db, wallet: string): Promise<string | undefined> {
  const limits = await draftLimits(tx, wallet);
  const { bytes } = await storedDrafts(tx, wallet);
  return bytes <= limits.bytes ? undefined : tooManyBytes(bytes, limits);
}

/** Whether a wallet has ever published an agent, and so paid for it. */
export async function hasPublished(db: Db, wallet: string): Promise<boolean> {
  const published = await db
    .selectFrom('listings')
    .select('id')
    .where('creator', '=', wallet)
    .where('published_at', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return published !== undefined;
}

/** Whether a wallet has a rental that works, and so paid for it. */
async function hasRented(db: Db, wallet: string): Promise<boolean> {
  const rented = await db
    .selectFrom('credentials')
    .select('address')
    .where('buyer', '=', wallet)
    .where('valid', '=', true)
    .limit(1)
    .executeTakeFirst();
  return rented !== undefined;
}

/** Runs that the agents of one wallet get in 24 hours, of each kind: nightly runs and sample runs count separately. */
const RUNS_PER_DAY = { review: SAMPLE_RUNS_PER_DAY, health: HEALTH_RUNS_PER_DAY } as const;

/** Counts one run for samples, unless the wallet has had as many of its kind as it may; says which. */
export async function beginSampleRun(
  db: Db,
  wallet: string,
  kind: keyof typeof RUNS_PER_DAY = 'review',
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    await lockCreator(tx, wallet);
    if ((await countToday(tx, wallet, kind)) >= RUNS_PER_DAY[kind]) return false;
    await tx.insertInto('sample_runs').values({ wallet, kind }).execute();
    return true;
  });
}

/** Removes the wallet's older records, and counts the others of a kind. */
async function countToday(tx: Db, wallet: string, kind: keyof typeof RUNS_PER_DAY | 'job'): Promise<number> {
  await tx
    .deleteFrom('sample_runs')
    .where('wallet', '=', wallet)
    .where('created_at', '<=', SAMPLE_RUN_DAY)
    .execute();
  const { records } = await tx
    .selectFrom('sample_runs')
    .select((eb) => eb.fn.countAll<bigint>().as('records'))
    .where('wallet', '=', wallet)
    .where('kind', '=', kind)
    .executeTakeFirstOrThrow();
  return Number(records);
}

/** Removes the records of sample runs and jobs that no limit counts any more. */
export async function removeOldSampleRuns(db: Db): Promise<void> {
  await db.deleteFrom('sample_runs').where('created_at', '<=', SAMPLE_RUN_DAY).execute();
}

async function draftLimits(tx: Db, wallet: string): Promise<DraftLimits> {
  return (await hasPublished(tx, wallet)) ? DRAFT_LIMITS.afterPublication : DRAFT_LIMITS.beforePublication;
}

function beforePublication(limits: DraftLimits): string {
  return limits === DRAFT_LIMITS.beforePublication ? ' before the first publication' : '';
}

function tooManyBytes(bytes: number, limits: DraftLimits): string {
  return (
    `The unpublished agents of the wallet, with all their versions, would take ${bytes} bytes; the most is ` +
    `${limits.bytes}${beforePublication(limits)}.`
  );
}

/** A job that could not be done is tried for about three days; it waits no longer than that. */
async function waitingJobs(tx: Db, wallet: string) {
  const { rows } = await sql<{ jobs: bigint; registrations: bigint; bytes: bigint }>`
    select count(*) as jobs, count(*) filter (where updates is null) as registrations,
      coalesce(sum(octet_length(body)), 0)::bigint as bytes
    from registration_jobs
    where wallet = ${wallet} and status = 'queued' and created_at > now() - interval '4 days'`.execute(tx);
  return toNumbers(rows[0] ?? { jobs: 0n, registrations: 0n, bytes: 0n });
}

const VERSION_BYTES = sql.raw(
  'coalesce(pg_column_size(private_part), 0) + pg_column_size(input_schema) + pg_column_size(output_schema)',
);

async function storedDrafts(tx: Db, wallet: string) {
  const { rows } = await sql<{ drafts: bigint; bytes: bigint }>`
    with drafts as materialized (
      select id, coalesce(pg_column_size(sample_input), 0) + pg_column_size(sample_output) + pg_column_size(description)
        as bytes
      from listings where creator = ${wallet} and status = 'draft'
    )
    select (select count(*) from drafts) as drafts,
      (select coalesce(sum(bytes), 0) from drafts)::bigint + (
        select coalesce(sum(${VERSION_BYTES}), 0)
        from agent_versions join drafts on drafts.id = agent_versions.listing_id
      )::bigint as bytes`.execute(tx);
  return toNumbers(rows[0] ?? { drafts: 0n, bytes: 0n });
}

async function listedBytesOfToday(tx: Db, wallet: string): Promise<number> {
  const { rows } = await sql<{ bytes: bigint }>`
    select coalesce(sum(${VERSION_BYTES}), 0)::bigint as bytes
    from agent_versions join listings on listings.id = agent_versions.listing_id
    where listings.creator = ${wallet} and listings.status <> 'draft'
      and agent_versions.created_at > now() - interval '24 hours'`.execute(tx);
  return Number(rows[0]?.bytes ?? 0n);
}

/** Some drafts by id: no answer of the API lists them. */
async function forInstance(tx: Db, wallet: string): Promise<string> {
  const drafts = await tx
    .selectFrom('listings')
    .select('id')
    .where('creator', '=', wallet)
    .where('status', '=', 'draft')
    .orderBy('updated_at')
    .limit(3)
    .execute();
  return drafts.length === 0 ? '' : `, for instance ${drafts.map(({ id }) => id).join(', ')}`;
}

function toNumbers<K extends string>(row: Record<K, bigint>): Record<K, number> {
  return Object.fromEntries(
    Object.entries<bigint>(row).map(([name, value]) => [name, Number(value)]),
  ) as Record<K, number>;
}
