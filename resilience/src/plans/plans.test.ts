import { IS_QUICK, sampleOf } from '@agent-rental/test/support/form';
import { expect, test } from 'vitest';
import { judgePlans, PLANNED } from './plans.js';

/** Modes of the planner in CI, of two. */
const MODES = 1;

test.skipIf(IS_QUICK)(
  'no statement of the server for a run, a list or a background job reads a growing table as a whole',
  { timeout: 600_000 },
  async () => {
    const size = { runs: 100_000, listings: 50_000 };
    const modes = sampleOf(PLANNED, MODES);
    const { statements, ...wrong } = await judgePlans(size, () => undefined, modes);
    expect(wrong).toEqual({ unseeded: [], unanswered: [], scans: [] });
    expect(statements).toBeGreaterThan(150);
  },
);
