import { browserPath } from '@agent-rental/test/support/browser/browser';
import { isPlayed } from '../harness/sampled-suites.js';
import { expect, test } from 'vitest';
import { measureCharts } from '../charts.js';
import { Sheet } from '../report.js';

// Only the command judges the targets. This test checks the suite's rows.
test.runIf(isPlayed('charts') && browserPath !== undefined)(
  'the charts suite measures the numbers of charts, and the charts in a browser',
  { timeout: 300_000 },
  async () => {
    const { rows, targets } = await measureCharts({ runs: 2_000, rounds: 2 }, new Sheet());
    expect(rows.map(({ what }) => what)).toEqual([
      'the same numbers by SQL over the runs',
      'GET /v1/spending',
      'GET /v1/earnings/stats',
      'GET /v1/agents/:listing_id/stats',
      "a renter's charts, asked for and drawn",
      "an agent's charts, asked for and drawn",
    ]);
    expect(targets).toHaveLength(5);
  },
);
