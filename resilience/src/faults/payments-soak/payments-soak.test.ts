import { SEED } from '@agent-rental/test/support/form';
import { expect, test } from 'vitest';
import { isPlayed } from '../../sampled-batteries.js';
import { runPaymentsSoak } from './payments-soak.js';

test.runIf(isPlayed('payments', 'payments soak'))(
  'the books of the till agree with the chain to the lamport, after a sample of payments with faults and kills',
  { timeout: 600_000 },
  async () => {
    const size = { payments: 20, concurrency: 8, faultPercent: 1 };
    const report = await runPaymentsSoak({ ...size, seed: SEED, log: () => undefined });
    expect(report.broken).toEqual([]);
    expect(report.kills).toBeGreaterThan(1);
    expect(report.payments).toBeGreaterThanOrEqual(20);
  },
);
