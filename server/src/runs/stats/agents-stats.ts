import { AGENTS_WITH_STATS, type AgentsStats as AgentsStatsAnswer } from '@agent-rental/contract';
import { CompiledQuery } from 'kysely';
import type { Owner } from '../../access/owner.js';
import type { Db } from '../../database/connection.js';
import { prepare } from '../../database/prepared-statements.js';
import { daysOf, DAYS_BEFORE } from './stats-days.js';

/** Runs and earnings of all agents of a creator, at the same cost however many runs there were. */
export interface AgentsStats {
  /** Counts the runs of a window, of the listings that the owner sees. */
  read(owner: Owner, window: AgentsStatsAnswer['window']): Promise<AgentsStatsAnswer>;
}

interface Counted {
  since: Date;
  /** The day; null in a row of a listing. */
  started_at: Date | null;
  listing_id: string | null;
  completed: bigint | null;
  failed: bigint | null;
  undelivered: bigint | null;
  earned: bigint | null;
}

const sumOf = (measure: string) =>
  `coalesce(sum(amount) filter (where measure = '${measure}'), 0)::bigint as ${measure}`;
const SUMS = ['completed', 'failed', 'undelivered', 'earned'].map(sumOf).join(', ');

/** Folded counts, and counts that wait to be folded, by day and by listing; one empty row where there is nothing. */
const READ = prepare(`with since as materialized (
    select date_trunc('day', now(), 'UTC') - $2::text::interval as since
  ), own as materialized (
    select id from listings where creator = $1 and ($3::text[] is null or id = any($3))
  ), counted as materialized (
    select stats.started_at, stats.listing_id, stats.measure, stats.amount
      from own cross join lateral (
        select * from listing_stats
        where listing_id = own.id and grain = 'day' and started_at >= (select since from since)
          and measure in ('completed', 'failed', 'undelivered', 'earned')
        offset 0 -- or the whole table is read for a creator of many listings
      ) as stats
    union all
    select date_trunc('day', delta.noted_at, 'UTC'), delta.listing_id, stats.measure, stats.amount
      from own join listing_run_deltas as delta on delta.listing_id = own.id
      cross join lateral stats_of_delta(
        delta.measure, delta.detail, delta.amount, delta.run_count, delta.completed_count, null
      ) as stats
      where delta.seq > (select folded_seq from delta_folds where name = 'run counts')
        and delta.noted_at >= (select since from since)
  ), sums as (
    select started_at, null as listing_id, ${SUMS} from counted group by started_at
    union all
    (select null, listing_id, ${SUMS} from counted group by listing_id
      order by coalesce(sum(amount) filter (where measure <> 'earned'), 0) desc, listing_id limit $4)
  )
  select since, sums.* from since left join sums on true order by completed + failed + undelivered desc, listing_id`);

export function createAgentsStats(db: Db): AgentsStats {
  return {
    async read({ wallet, listingIds }, window) {
      const values = [wallet, `${DAYS_BEFORE[window]} days`, listingIds ?? null, AGENTS_WITH_STATS];
      const { rows } = await db.executeQuery<Counted>(CompiledQuery.raw(READ, values));
      const since = rows[0]?.since ?? new Date();
      return {
        window,
        since: since.toISOString(),
        series: daysOf(since, window).map((startedAt) => ({
          started_at: startedAt.toISOString(),
          ...endsOf(rows.find(({ started_at: at }) => at?.getTime() === startedAt.getTime())),
        })),
        agents: rows.flatMap((row) =>
          row.listing_id === null ? [] : [{ listing_id: row.listing_id, ...endsOf(row) }],
        ),
      };
    },
  };
}

const endsOf = (row: Counted | undefined) => ({
  completed: Number(row?.completed ?? 0n),
  failed: Number(row?.failed ?? 0n),
  undelivered: Number(row?.undelivered ?? 0n),
  earned_lamports: Number(row?.earned ?? 0n),
});
