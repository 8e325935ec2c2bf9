import type { OperatorOverview } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';

type Day = OperatorOverview['days'][number];

const DAYS = 30;
const BPS = 10_000n;

/**
 * Runs and earnings of all listings in the last 30 days, the oldest first. Counts of the last seconds may be missing.
 *
 * @param feeBps the protocol's present fee in hundredths of a percent
 */
export async function readDays(db: Db, feeBps: number): Promise<Day[]> {
  const sumOf = (measure: string) =>
    sql<bigint>`coalesce(sum(amount) filter (where measure = ${measure}), 0)::bigint`;
  const { rows } = await sql<
    Record<'completed' | 'failed' | 'undelivered' | 'earned', bigint> & { day: Date }
  >`
    select day, ${sumOf('completed')} as completed, ${sumOf('failed')} as failed,
      ${sumOf('undelivered')} as undelivered, ${sumOf('earned')} as earned
    from generate_series(
        date_trunc('day', now(), 'UTC') - make_interval(days => ${DAYS - 1}), date_trunc('day', now(), 'UTC'), '1 day'
      ) as day
      left join listing_stats on grain = 'day' and started_at = day
        and measure in ('completed', 'failed', 'undelivered', 'earned')
    group by day order by day`.execute(db);
  return rows.map(({ day, completed, failed, undelivered, earned }) => ({
    started_at: day.toISOString(),
    completed: Number(completed),
    failed: Number(failed),
    undelivered: Number(undelivered),
    earned_lamports: Number(earned),
    fee_lamports: Number(feeOf(earned, BigInt(feeBps))),
  }));
}

/** The fee on sales that left the creators so much. Each sale rounds it down, so the sum may be a few lamports more. */
const feeOf = (earned: bigint, feeBps: bigint): bigint =>
  feeBps >= BPS ? 0n : (earned * feeBps) / (BPS - feeBps);
