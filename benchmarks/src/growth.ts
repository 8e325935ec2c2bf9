import { measureBackground } from './growth/background.js';
import { weighChargedRuns } from './growth/charged-runs.js';
import { landTransactions, measureSettling } from './growth/charges.js';
import { measureFirstStarts } from './growth/first-starts.js';
import { startGrownMarket } from './growth/grown-market.js';
import { measureRequests } from './growth/requests.js';
import { SIZES, type Sizes } from './growth/sizes.js';
import { measureManyChanged, measureSnapshot } from './growth/snapshot.js';
import { Sheet, type Suite } from './report.js';

const SIZE = process.env['BENCH_SIZE'] ?? 'full';

/** Measures at the given sizes. */
export async function measureGrowth(sizes: Sizes, sheet: Sheet): Promise<Sheet> {
  const { progress } = sheet;
  progress('Starting a marketplace with a short history, and one with a long history');
  const small = await startGrownMarket(sizes, progress);
  try {
    const large = await startGrownMarket({ ...sizes, runs: sizes.runs * sizes.times }, progress);
    try {
      const signatures = await landTransactions(large);
      await measureBackground(small, large, sizes, sheet);
      await small.close();
      await measureRequests(large, sizes, sheet);
      await measureSettling(large, sizes, signatures, sheet);
      await weighChargedRuns(large, sizes, sheet);
      await measureSnapshot(large, sizes, sheet);
      await measureManyChanged(large, sizes, sheet);
    } finally {
      await large.close();
    }
  } finally {
    await small.close();
  }
  await measureFirstStarts(sizes, sheet);
  const { runs, listings, rounds } = sizes;
  sheet.setting = { x1_runs: runs, listings, rounds };
  return sheet;
}

/** The costs of pages, runs, background rounds and first starts as the history grows. */
export const suite: Suite = {
  name: 'growth',
  summary: 'costs of a page, a check, an idle minute and a start with a hundred times the history',
  run(progress) {
    if (SIZE !== 'small' && SIZE !== 'full') throw new Error(`BENCH_SIZE is small or full, not ${SIZE}.`);
    return measureGrowth(SIZES[SIZE], new Sheet(progress));
  },
};
