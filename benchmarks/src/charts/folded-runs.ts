import { until } from '@agent-rental/test/support/timing/until';
import type { Pool } from 'pg';

const MOST_MS = 600_000;
const LOOK_MS = 500;

/** Waits until the server has counted all ended runs. */
export async function foldedRuns(pool: Pool, progress: (line: string) => void): Promise<void> {
  const startedAt = performance.now();
  const isEmpty = async () => (await pool.query('select from listing_run_deltas limit 1')).rowCount === 0;
  await until(isEmpty, MOST_MS, LOOK_MS);
  await pool.query('vacuum (analyze) renter_stats, listing_stats, listing_run_deltas');
  progress(`counted in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
}
