import type { Pool } from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import type { Sheet } from '../report.js';
import { compareByTurns } from './comparison.js';
import type { GrownMarket } from './grown-market.js';
import type { Sizes } from './sizes.js';

const MOST = 1.3;
/** Rounds of the quick reconciler per round of the sizes. */
const ROUNDS_EACH = 5;

/** Measures the server's background work, with a short and a long history. */
export async function measureBackground(
  small: GrownMarket,
  large: GrownMarket,
  { rounds, times, idleSeconds }: Sizes,
  sheet: Sheet,
): Promise<void> {
  await compareByTurns(
    {
      what: 'a round of the reconciler, nothing open',
      small: () => small.parts.reconcilerRound(),
      large: () => large.parts.reconcilerRound(),
    },
    { rounds: rounds * ROUNDS_EACH, times, most: MOST },
    sheet,
  );
  sheet.progress(`Idle for ${idleSeconds} s`);
  const [one = Number.NaN, many = Number.NaN] = await Promise.all(
    [small, large].map(({ parts }) => busyMsPerSecond(parts.pool, idleSeconds)),
  );
  const what = 'database time of an idle server';
  sheet.add({ what, x1_ms_per_s: one, [`x${times}_ms_per_s`]: many, ratio: many / one });
  sheet.atMost(`${what}, x${times} over x1`, many / one, MOST, 'times');
}

/** PostgreSQL's sessions report their activity about once a second, and when they become idle. */
const TOLD_AFTER_MS = 2_000;

/** The database's active time per second, in milliseconds, summed over all connections. */
async function busyMsPerSecond(pool: Pool, seconds: number): Promise<number> {
  const activeMs = async () => {
    await delay(TOLD_AFTER_MS);
    const { rows } = await pool.query<{ ms: number }>(
      'select active_time as ms from pg_stat_database where datname = current_database()',
    );
    return rows[0]?.ms ?? Number.NaN;
  };
  const before = await activeMs();
  const startedAt = performance.now();
  await delay(seconds * 1_000);
  const after = await activeMs();
  return (after - before) / ((performance.now() - startedAt) / 1_000);
}
