import { IS_QUICK, SEED } from '@agent-rental/test/support/form';
import { expect, test } from 'vitest';
import { runMoneySoak } from './money-soak.js';

test.skipIf(IS_QUICK)(
  'the chain’s debits equal the costs of answered, credited and lost runs, after faults, kills and forks [MON-70]',
  { timeout: 600_000 },
  async () => {
    const size = { runs: 40, concurrency: 12, faultPercent: 1 };
    const report = await runMoneySoak({ ...size, seed: SEED, log: () => undefined });
    expect(report).toMatchObject({ runs: expect.any(Number) as number, differences: [], broken: [] });
    expect(Object.keys(report.faults).length).toBeGreaterThan(2);
    expect(report.kills).toBeGreaterThan(1);
  },
);
