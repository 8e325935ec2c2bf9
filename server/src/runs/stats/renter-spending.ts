import {
  SPENDING_AGENTS,
  type Spending as SpendingAnswer,
  type SpendingStatsWindow,
} from '@agent-rental/contract';
import { CompiledQuery } from 'kysely';
import { seenBy, type Owner } from '../../access/owner.js';
import type { Db } from '../../database/connection.js';
import { prepare } from '../../database/prepared-statements.js';
import { daysOf, DAYS_BEFORE } from './stats-days.js';

/** Ended runs of a renter and their cost, at the same cost however many there were. */
export interface RenterSpending {
  /** Counts the runs of a window: all runs of a wallet for its login, the runs that it began for an API key. */
  read(owner: Owner, window: SpendingStatsWindow): Promise<SpendingAnswer>;
}

interface Counted {
  since: Date;
  /** The day; null in a row of an agent. */
  started_at: Date | null;
  listing_id: string | null;
  listing_title: string | null;
  completed: bigint | null;
  failed: bigint | null;
  undelivered: bigint | null;
  spent_lamports: bigint | null;
}

const SUMS = `sum(completed)::bigint as completed, sum(failed)::bigint as failed, sum(undelivered)::bigint as undelivered,
  sum(spent_lamports)::bigint as spent_lamports`;

/** Folded counts, and counts that wait to be folded, by day and by agent; one empty row where there is nothing. */
const readBy = (isOwner: string) =>
  prepare(`with since as materialized (
    select date_trunc('day', now(), 'UTC') - $2::text::interval as since
  ), counted as materialized (
    select started_at, listing_id, completed, failed, undelivered, spent_lamports from renter_stats
      where owner = $1::text and started_at >= (select since from since)
    union all
    select date_trunc('day', noted_at, 'UTC'), listing_id, (measure = 'completed')::integer, (measure = 'failed')::integer,
        (measure = 'undelivered')::integer, coalesce(cost_lamports, 0)
      from listing_run_deltas
      where seq > (select folded_seq from delta_folds where name = 'run counts') and ${isOwner}
        and noted_at >= (select since from since)
  ), sums as (
    select started_at, null as listing_id, ${SUMS} from counted group by started_at
    union all
    (select null, listing_id, ${SUMS} from counted group by listing_id
      order by sum(spent_lamports) desc, sum(completed + failed + undelivered) desc, listing_id limit $3)
  )
  select since, sums.*, listings.title as listing_title
    from since left join sums on true left join listings on listings.id = sums.listing_id
    order by spent_lamports desc, completed + failed + undelivered desc, sums.listing_id`);
// A statement each, so that each has its plan.
const READ = { wallet: readBy('wallet = $1'), api_key_id: readBy('api_key_id = $1::text::uuid') } as const;

export function createRenterSpending(db: Db): RenterSpending {
  return {
    async read(owner, window) {
      const [column, value] = seenBy(owner);
      const values = [value, `${DAYS_BEFORE[window]} days`, SPENDING_AGENTS];
      const { rows } = await db.executeQuery<Counted>(CompiledQuery.raw(READ[column], values));
      const since = rows[0]?.since ?? new Date();
      const series = daysOf(since, window).map((startedAt) => ({
        started_at: startedAt.toISOString(),
        ...countsOf(rows.find(({ started_at: at }) => at?.getTime() === startedAt.getTime())),
      }));
      const sumOf = (name: keyof ReturnType<typeof countsOf>) =>
        series.reduce((sum, period) => sum + period[name], 0);
      return {
        window,
        since: since.toISOString(),
        sum: {
          completed: sumOf('completed'),
          failed: sumOf('failed'),
          undelivered: sumOf('undelivered'),
          spent_lamports: sumOf('spent_lamports'),
        },
        series,
        agents: rows.flatMap((row) =>
          row.listing_id === null
            ? []
            : [{ listing_id: row.listing_id, listing_title: row.listing_title ?? '', ...countsOf(row) }],
        ),
      };
    },
  };
}

const countsOf = (row: Counted | undefined) => ({
  completed: Number(row?.completed ?? 0n),
  failed: Number(row?.failed ?? 0n),
  undelivered: Number(row?.undelivered ?? 0n),
  spent_lamports: Number(row?.spent_lamports ?? 0n),
});

/** Removes the counts that no window shows any more. */
export async function removeOldSpending(db: Db): Promise<void> {
  await db.executeQuery(
    CompiledQuery.raw(`delete from renter_stats where started_at < now() - interval '32 days'`, []),
  );
}
