import type {
  AgentStats as AgentStatsAnswer,
  AgentStatsPeriod,
  RunFailureClass,
  RunRefusal,
  StatsWindow,
} from '@agent-rental/contract';
import { CompiledQuery, type Selectable } from 'kysely';
import type { Db } from '../../database/connection.js';
import { prepare } from '../../database/prepared-statements.js';
import type { Database } from '../../database/schema.js';
import { requireOwnListing } from '../history/own-listing.js';

/** How runs of a listing went, for its creator, at the same cost however many there were. */
export interface AgentStats {
  /**
   * Counts the runs of a window.
   *
   * @throws ApiError `invalid_listing_id`; `listing_not_found` for another creator's.
   */
  read(creator: string, listingId: string, window: StatsWindow): Promise<AgentStatsAnswer>;
}

/** Kept hours and days: the longest window of each, and the present one. */
const STATS_KEPT = { hour: '2 days', day: '32 days' } as const;

const GRAIN_MS = { hour: 3_600_000, day: 86_400_000 } as const;

/** The periods of a window, and their number beside the present one. */
const WINDOWS: Readonly<Record<StatsWindow, { grain: keyof typeof GRAIN_MS; before: number }>> = {
  '24h': { grain: 'hour', before: 24 },
  '7d': { grain: 'day', before: 6 },
  '30d': { grain: 'day', before: 29 },
};

/** Steps of a duration's logarithm for each doubling: `stats-of-delta.sql` makes them. */
const STEPS = 8;

interface Counted {
  measure: Selectable<Database['listing_stats']>['measure'] | null;
  detail: string | null;
  amount: bigint | null;
  /** The hour or day that it is counted in. */
  started_at: Date | null;
  since: Date;
}

type Measure = NonNullable<Counted['measure']>;
type CountOf = (measure: Measure) => { detail: string; count: number }[];

/** Folded counts, and counts that wait to be folded; one row without a measure where there is nothing. */
const READ = prepare(`with since as materialized (
    select date_trunc($2::text, now(), 'UTC') - $3::text::interval as since
  ), counted as (
    select started_at, measure, detail, amount from listing_stats
      where listing_id = $1 and grain = $2 and started_at >= (select since from since)
    union all
    select date_trunc($2::text, delta.noted_at, 'UTC'), stats.measure, stats.detail, stats.amount
      from listing_run_deltas as delta cross join lateral stats_of_delta(
        delta.measure, delta.detail, delta.amount, delta.run_count, delta.completed_count, delta.duration_ms
      ) as stats
      where delta.listing_id = $1 and delta.seq > (select folded_seq from delta_folds where name = 'run counts')
        and delta.noted_at >= (select since from since)
  )
  select since, started_at, measure, detail, amount from since left join (
    select started_at, measure, detail, sum(amount)::bigint as amount from counted group by started_at, measure, detail
  ) as sums on true`);

export function createAgentStats(db: Db): AgentStats {
  return {
    async read(creator, given, window) {
      const listingId = await requireOwnListing(db, creator, given);
      const { grain, before } = WINDOWS[window];
      const values = [listingId, grain, `${before} ${grain}s`];
      const { rows } = await db.executeQuery<Counted>(CompiledQuery.raw(READ, values));
      const of = countsOf(rows);
      const refused = of('refused');
      const refusals = (why: RunRefusal) => sum(refused.filter(({ detail }) => detail === why));
      const since = rows[0]?.since ?? new Date();
      const ends = endsOf(of);
      return {
        listing_id: listingId,
        window,
        since: since.toISOString(),
        runs: { total: ends.completed + ends.failed + ends.undelivered, ...ends },
        duration_ms: durationsOf(of),
        failures: byClass([...of('failed'), ...of('undelivered')]),
        refusals: {
          no_slot: refusals('no_slot'),
          rate_limit: refusals('rate_limit'),
          insufficient_balance: refusals('insufficient_balance'),
        },
        views: sum(of('viewed')),
        // A fork may take back a rental of an earlier window.
        rentals: Math.max(0, sum(of('rented'))),
        health: await readHealth(db, listingId),
        series: seriesOf(rows, { since, stepMs: GRAIN_MS[grain], length: before + 1 }),
      };
    },
  };
}

/** Gives the counts of a measure. */
function countsOf(rows: readonly Counted[]): CountOf {
  return (measure) =>
    rows
      .filter((row) => row.measure === measure)
      .map(({ detail, amount }) => ({ detail: detail ?? '', count: Number(amount ?? 0n) }));
}

const endsOf = (of: CountOf) => ({
  completed: sum(of('completed')),
  failed: sum(of('failed')),
  undelivered: sum(of('undelivered')),
});

function durationsOf(of: CountOf): AgentStatsAnswer['duration_ms'] {
  const steps = of('duration').map(({ detail, count }) => ({ step: Number(detail), count }));
  return { p50: percentileOf(steps, 0.5), p95: percentileOf(steps, 0.95) };
}

/** The hours or days of a window, in order. Those in UTC all have one length. */
function seriesOf(
  rows: readonly Counted[],
  { since, stepMs, length }: { since: Date; stepMs: number; length: number },
): AgentStatsPeriod[] {
  return Array.from({ length }, (_, index) => {
    const startedAt = since.getTime() + index * stepMs;
    const of = countsOf(rows.filter(({ started_at: at }) => at?.getTime() === startedAt));
    return {
      started_at: new Date(startedAt).toISOString(),
      ...endsOf(of),
      duration_ms: durationsOf(of),
      earned_lamports: sum(of('earned')),
    };
  });
}

/** The results of a listing's nightly runs; a draft had none. */
async function readHealth(db: Db, listingId: string): Promise<AgentStatsAnswer['health']> {
  const row = await db
    .selectFrom('listings')
    .leftJoin('listing_health', 'listing_health.listing_id', 'listings.id')
    .select(['health_checks', 'checked_at', 'failed_days', 'problem', 'failing_since', 'hidden_since'])
    .where('listings.id', '=', listingId)
    .executeTakeFirstOrThrow();
  const timeOf = (at: Date | null) => at?.toISOString() ?? null;
  return {
    is_checked: row.health_checks,
    checked_at: timeOf(row.checked_at),
    failed_days: row.failed_days ?? 0,
    problem: row.problem,
    failing_since: timeOf(row.failing_since),
    hidden_since: timeOf(row.hidden_since),
  };
}

/** Removes the counts that no window shows any more. */
export async function removeOldStats(db: Db): Promise<void> {
  for (const [grain, kept] of Object.entries(STATS_KEPT)) {
    const text = `delete from listing_stats where grain = $1 and started_at < now() - $2::text::interval`;
    await db.executeQuery(CompiledQuery.raw(text, [grain, kept]));
  }
}

const sum = (counts: readonly { count: number }[]): number =>
  counts.reduce((total, { count }) => total + count, 0);

/** Failures by class, whether or not the run had a result; the most frequent first. */
function byClass(counts: readonly { detail: string; count: number }[]): AgentStatsAnswer['failures'] {
  const classes = new Map<string, number>();
  for (const { detail, count } of counts) classes.set(detail, (classes.get(detail) ?? 0) + count);
  return [...classes]
    .map(([name, count]) => ({ class: name as RunFailureClass, count }))
    .toSorted((one, other) => other.count - one.count || one.class.localeCompare(other.class));
}

/** The duration that so large a share of the runs did not exceed: the middle of its step. Null without runs. */
function percentileOf(steps: readonly { step: number; count: number }[], share: number): number | null {
  let left = Math.ceil(sum(steps) * share);
  if (left === 0) return null;
  for (const { step, count } of steps.toSorted((one, other) => one.step - other.step)) {
    left -= count;
    if (left <= 0) return Math.round(2 ** ((step + 0.5) / STEPS));
  }
  return null;
}
