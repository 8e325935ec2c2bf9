import { expect, test } from 'vitest';
import { runAbortBattery, WAYS } from './battery.js';
import { IS_QUICK } from '@agent-rental/test/support/form';

test.skipIf(IS_QUICK)(
  'nothing is left of runs that were aborted at random moments, by each way',
  { timeout: 300_000 },
  async () => {
    const report = await runAbortBattery({
      runs: 5 * WAYS.length,
      seed: 20,
      concurrency: 10,
      latestAbortMs: 1_500,
      log: () => undefined,
    });
    expect(report.broken).toEqual([]);
    for (const way of WAYS) expect(Object.keys(report.records[way])).not.toEqual([]);
  },
);
