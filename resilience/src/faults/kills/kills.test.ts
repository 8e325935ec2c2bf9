import { FORM, IS_QUICK, sampleOf, SEED } from '@agent-rental/test/support/form';
import { hasRedis } from '@agent-rental/test/support/processes/redis';
import { expect, test } from 'vitest';
import { runKills, STEPS, type Cell } from './kills.js';
import { PARTS_OF, STACKS } from './stacks/stack.js';

/** Longer than in the battery, because other tests share the machine. */
const BACK_MS = 30_000;

/** Stacks in CI, and cells of each. `npm run battery -- kills` plays each part at each step of both stacks. */
const SAMPLED = { stacks: 1, cells: 1 };
const STACK_CELLS = sampleOf(STACKS, SAMPLED.stacks).map((stack) => ({
  stack,
  cells: sampleOf(
    PARTS_OF[stack].flatMap((part): Cell[] => STEPS.map((step) => ({ part, step }))),
    SAMPLED.cells,
  ),
}));

test.runIf(!IS_QUICK && hasRedis).each(STACK_CELLS)(
  'killing a part of $stack at sampled steps of a run keeps every guarantee, leaves nothing behind, and the service recovers [OPS-6, OPS-52]',
  { timeout: FORM === 'full' ? 1_800_000 : 300_000 },
  async ({ stack, cells }) => {
    const reports = await runKills({ stack, cells, seed: SEED, backWithinMs: BACK_MS, log: () => undefined });
    expect(reports.map(({ part, step, wrong }) => ({ part, step, wrong }))).toEqual(
      cells.map((cell) => ({ ...cell, wrong: [] })),
    );
    for (const { runs } of reports) expect(runs).toBeGreaterThan(20);
  },
);
