import { expect, test } from 'vitest';
import { isPlayed } from '../sampled-batteries.js';
import { runAbortBattery, WAYS } from './battery.js';
import { FORM, SEED } from '@agent-rental/test/support/form';

test.runIf(isPlayed('load', 'aborts'))(
  'runs that are aborted at random moments, in each way, leave nothing behind',
  { timeout: 300_000 },
  async () => {
    const size = { runs: (FORM === 'full' ? 5 : 3) * WAYS.length, concurrency: 10, latestAbortMs: 1_500 };
    const report = await runAbortBattery({ ...size, seed: SEED, log: () => undefined });
    expect(report.broken).toEqual([]);
    for (const way of WAYS) expect(Object.keys(report.records[way])).not.toEqual([]);
  },
);
