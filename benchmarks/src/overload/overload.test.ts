import { isPlayed } from '../harness/sampled-suites.js';
import { expect, test } from 'vitest';
import { measureOverload } from '../overload.js';
import { Sheet } from '../report.js';

// Only the command judges the targets. This test checks the suite's rows.
test.runIf(isPlayed('overload'))(
  'the overload suite measures good answers at capacity and at ten times the callers, with tokens and keys',
  { timeout: 300_000 },
  async () => {
    const { rows, targets } = await measureOverload(
      { seconds: 0.5, warmUpSeconds: 0.5, rounds: 1 },
      new Sheet(),
    );
    expect(rows.map(({ what }) => what)).toEqual([
      '20 callers with a token',
      '200 callers with a token',
      '20 callers with a key',
      '200 callers with a key',
    ]);
    for (const { good_per_s: good } of rows) expect(good).toBeGreaterThan(0);
    expect(rows[1]?.['refused_per_s']).toBeGreaterThan(0);
    expect(targets).toHaveLength(2);
  },
);
