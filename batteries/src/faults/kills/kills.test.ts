import { IS_QUICK } from '@agent-rental/test/support/form';
import { hasRedis } from '@agent-rental/test/support/processes/redis';
import { expect, test } from 'vitest';
import { runKills, type Cell } from './kills.js';
import type { StackName } from './stacks/stack.js';

const SEED = 24;
/** The battery measures; here other tests share the machine. */
const BACK_MS = 30_000;

/** Each part once, each at another step. */
const STACKS: readonly { stack: StackName; cells: readonly Cell[] }[] = [
  {
    stack: 'embedded',
    cells: [
      { part: 'server', step: 'charge' },
      { part: 'chain', step: 'check' },
      { part: 'postgres', step: 'deliver' },
    ],
  },
  { stack: 'production', cells: [{ part: 'redis', step: 'parse' }] },
];

test.runIf(!IS_QUICK && hasRedis).each(STACKS)(
  'any part of $stack that is killed during a run leaves every guarantee, nothing else, and a service that comes back [OPS-98, OPS-101, OPS-102, OPS-103]',
  { timeout: 300_000 },
  async ({ stack, cells }) => {
    const reports = await runKills({
      stack,
      cells,
      seed: SEED,
      backWithinMs: BACK_MS,
      log: () => undefined,
    });
    expect(reports.map(({ part, step, wrong }) => ({ part, step, wrong }))).toEqual(
      cells.map((cell) => ({ ...cell, wrong: [] })),
    );
    for (const { runs } of reports) expect(runs).toBeGreaterThan(20);
  },
);
