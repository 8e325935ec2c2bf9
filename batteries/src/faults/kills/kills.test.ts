import { IS_FULL_FORM } from '@agent-rental/test/support/full-form';
import { hasRedis } from '@agent-rental/test/support/processes/redis';
import { expect, test } from 'vitest';
import { runKills, STEPS, type Cell } from './kills.js';
import { PARTS_OF, STACKS } from './stack.js';

const SEED = 24;

/** Each part once, each at another step. */
const cellsOf = (stack: (typeof STACKS)[number], first: number): Cell[] =>
  PARTS_OF[stack].map((part, index) => ({ part, step: STEPS[(first + index * 2) % STEPS.length] ?? 'run' }));

test.runIf(IS_FULL_FORM && hasRedis).each([
  { stack: STACKS[0], first: 2 },
  { stack: STACKS[1], first: 1 },
])(
  'any part of $stack killed in the middle of a run leaves every guarantee, nothing else, and a service that is back within 10 s [OPS-98, OPS-101, OPS-102, OPS-103]',
  { timeout: 300_000 },
  async ({ stack, first }) => {
    const cells = cellsOf(stack, first);
    const reports = await runKills({ stack, cells, seed: SEED, log: () => undefined });
    expect(reports.map(({ part, step, wrong }) => ({ part, step, wrong }))).toEqual(
      cells.map((cell) => ({ ...cell, wrong: [] })),
    );
    for (const { runs } of reports) expect(runs).toBeGreaterThan(20);
  },
);
