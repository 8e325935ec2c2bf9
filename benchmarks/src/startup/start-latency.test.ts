import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRentedAgents, type RentedAgents } from './rented-agents.js';
import { IS_QUICK } from '@agent-rental/test/support/form';
import { stalledSoFarMs } from '@agent-rental/test/support/processes/stalled';

/** The specification's bound for 19 of 20 runs. `npm run bench -- startup` measures the actual times. */
const BOUND_MS = 200;
const RUNS = 20;

let agents: RentedAgents;
beforeAll(async () => {
  agents = await startRentedAgents(2);
}, 120_000);
afterAll(() => agents?.stop());

test.skipIf(IS_QUICK).each(['subscription', 'per_query'] as const)(
  'of 20 runs of a %s rental, 19 start within 200 ms of their request [EXE-42]',
  { timeout: 120_000 },
  async (kind) => {
    const times: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const stalledBefore = await stalledSoFarMs();
      const { firstLines } = await agents.run(kind, 1);
      // Subtracts the waits for a processor on a busy machine.
      const stalledMs = (await stalledSoFarMs()) - stalledBefore;
      times.push(...firstLines.map((ms) => Math.max(0, ms - stalledMs)));
    }
    expect(times).toHaveLength(RUNS);
    expect(times.filter((ms) => ms > BOUND_MS).length).toBeLessThanOrEqual(RUNS / 20);
  },
);
