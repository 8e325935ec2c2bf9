import { expect, test } from 'vitest';
import { isPlayed } from '../sampled-batteries.js';
import { runLoad } from './load.js';
import { SEED } from '@agent-rental/test/support/form';

test.runIf(isPlayed('load', 'load'))(
  'a short load keeps its bounds within and over the capacity, with callers that leave and sandboxes that die',
  { timeout: 300_000 },
  async () => {
    const size = { listings: 2, runMs: 1_000, concurrency: 3, lineLength: 2 };
    const times = { withinSeconds: 2, overSeconds: 2 };
    const report = await runLoad({ ...size, ...times, seed: SEED, log: () => undefined });
    expect(report.broken).toEqual([]);
    expect(report.within.answers['200 completed']).toBeGreaterThan(0);
    expect(report.over.answers['200 completed']).toBeGreaterThan(0);
  },
);
