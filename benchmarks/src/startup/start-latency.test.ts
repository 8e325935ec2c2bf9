import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRentedAgents, type RentedAgents } from './rented-agents.js';
import { IS_QUICK } from '@agent-rental/test/support/form';
import { stalledSoFarMs } from '@agent-rental/test/support/processes/stalled';

/** The specification's bound, of 19 runs in 20. How far below it they are, `npm run bench -- startup` measures. */
const BOUND_MS = 200;
const RUNS = 20;

let agents: RentedAgents;
beforeAll(async () => {
  agents = await startRentedAgents(2);
}, 120_000);
afterAll(() => agents?.stop());

test.skipIf(IS_QUICK).each(['subscription', 'per_query'] as const)(
  'of 20 runs of a %s rental, 19 have begun within 200 ms of their request [EXE-42]',
  { timeout: 120_000 },
  async (kind) => {
    const times: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const stalledBefore = await stalledSoFarMs();
      const { firstLines } = await agents.run(kind, 1);
      // On a busy machine the time does not count in which work waited for a processor.
      const stalledMs = (await stalledSoFarMs()) - stalledBefore;
      times.push(...firstLines.map((ms) => Math.max(0, ms - stalledMs)));
    }
    expect(times).toHaveLength(RUNS);
    expect(times.filter((ms) => ms > BOUND_MS).length).toBeLessThanOrEqual(RUNS / 20);
  },
);
