import { IS_QUICK } from '@agent-rental/test/support/form';
import { expect, test } from 'vitest';
import { judgePlans } from './plans.js';

test.skipIf(IS_QUICK)(
  'no statement of the server for a run, a list or a background job reads a growing table as a whole',
  { timeout: 600_000 },
  async () => {
    const { statements, ...wrong } = await judgePlans({ runs: 100_000, listings: 50_000 }, () => undefined);
    expect(wrong).toEqual({ unseeded: [], unanswered: [], scans: [] });
    expect(statements).toBeGreaterThan(150);
  },
);
