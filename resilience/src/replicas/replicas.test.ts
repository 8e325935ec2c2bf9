import { hasRedis } from '@agent-rental/test/support/processes/redis';
import { SEED } from '@agent-rental/test/support/form';
import { expect, test } from 'vitest';
import { isPlayed } from '../sampled-batteries.js';
import { runReplicas } from './battery.js';

test.runIf(isPlayed('replicas', 'killed replica') && hasRedis)(
  'replicas keep limits, slots, runs and money when one is killed and one is added under load [OPS-90]',
  { timeout: 600_000 },
  async () => {
    const size = { replicas: 3, requests: 300, kills: 1, wallets: 6, concurrency: 16 };
    const report = await runReplicas({ ...size, seed: SEED, log: () => undefined });
    expect(report.broken).toEqual([]);
    expect(report.failover_ms).toHaveLength(1);
    expect(report.limits.bursts.length).toBeGreaterThan(1);
    expect(report.runs.answered).toBeGreaterThan(100);
    expect(report.money.charged).toBeGreaterThan(50);
  },
);
