import { hasRedis } from '@agent-rental/test/support/processes/redis';
import { isPlayed } from '../harness/sampled-suites.js';
import { expect, test } from 'vitest';
import { measureReplicas } from '../replicas.js';
import { Sheet } from '../report.js';

// Only the command judges the targets. This test checks the suite's rows.
test.runIf(isPlayed('replicas') && hasRedis)(
  'the replicas suite measures reads and runs of one, two and four replicas in turns',
  { timeout: 300_000 },
  async () => {
    const { rows, targets } = await measureReplicas(
      { seconds: 0.3, warmUpSeconds: 0.3, rounds: 1 },
      new Sheet(),
    );
    expect(rows.map(({ replicas }) => replicas)).toEqual([1, 2, 4, 1, 2, 4, 1, 2, 4, 1, 2, 4]);
    for (const { per_s: rate } of rows) expect(rate).toBeGreaterThan(0);
    expect(targets).toHaveLength(8);
  },
);
