import { isPlayed } from '../harness/sampled-suites.js';
import { expect, test } from 'vitest';
import { measureGrowth } from '../growth.js';
import { Sheet } from '../report.js';
import { SIZES } from './sizes.js';

// Only the command judges the targets. This test checks the suite's rows.
test.runIf(isPlayed('growth'))(
  'the growth suite measures pages, runs, rounds, charges and starts with a short and a long history',
  { timeout: 600_000 },
  async () => {
    const { rows, targets } = await measureGrowth(SIZES.small, new Sheet());
    expect(rows.map(({ what }) => what)).toEqual([
      'a round of the reconciler, nothing open',
      'database time of an idle server',
      'GET /v1/credentials, the first 100',
      'GET /v1/credentials, the last 100',
      'access check of a run',
      'GET /v1/tools, 10 tools',
      'MCP, the first page of tools',
      'GET /v1/runs',
      'GET /v1/runs of one agent',
      'GET /v1/earnings',
      '100 landed charges settled',
      '100 landed charges settled behind 200 stuck ones',
      'a charged run, when it is final',
      'taking and freeing a slot, no snapshot',
      'taking and freeing a slot, beside a snapshot',
      'pausing and resuming a listing, no snapshot',
      'pausing and resuming a listing, beside a snapshot',
      'pausing and resuming one listing 8 times, no snapshot',
      'pausing and resuming one listing 8 times, beside a snapshot',
      '1 listings changed in one statement',
      '10 listings changed in one statement',
      'the index of a first start, 3 and 30 transactions',
    ]);
    const figures = rows.flatMap((row) => Object.entries(row).filter(([name]) => name !== 'what'));
    for (const [name, figure] of figures) expect(figure, name).toBeGreaterThan(0);
    expect(targets).toHaveLength(15);
  },
);
