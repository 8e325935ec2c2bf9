import { expect, test } from 'vitest';
import { isPlayed } from '../harness/sampled-suites.js';
import { measurePayPerCall } from '../pay-per-call.js';
import { Sheet } from '../report.js';

// Only the command judges the targets. This test checks the suite's rows.
test.runIf(isPlayed('pay-per-call'))(
  'the pay-per-call suite measures refusals, and paid calls beside the bare package and a run',
  { timeout: 300_000 },
  async () => {
    const { rows, targets } = await measurePayPerCall({ rounds: 2, warmUps: 0 }, new Sheet());
    const ofCalls = (which: string) => [
      `a paid call, the ${which} of a wallet`,
      'settling with the bare package, and the run by a rental',
      'of it settling',
      'of it the run',
      'a transfer until it is confirmed',
      'a paid call over such a transfer and the run',
    ];
    expect(rows.map(({ what }) => what)).toEqual([
      '402: no credentials',
      '403: a key without a rental',
      ...ofCalls('first'),
      ...ofCalls('later'),
    ]);
    expect(targets).toHaveLength(3);
  },
);
