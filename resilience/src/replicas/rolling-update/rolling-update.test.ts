import { hasRedis } from '@agent-rental/test/support/processes/redis';
import { SEED } from '@agent-rental/test/support/form';
import { expect, test } from 'vitest';
import { isPlayed } from '../../sampled-batteries.js';
import { runRollingUpdate } from './rolling-update.js';

test.runIf(isPlayed('replicas', 'rolling update') && hasRedis)(
  'replicas are replaced one by one under load, and no request fails [OPS-4]',
  { timeout: 600_000 },
  async () => {
    const size = { replicas: 2, requests: 200, wallets: 6, concurrency: 10 };
    const report = await runRollingUpdate({ ...size, seed: SEED, log: () => undefined });
    expect(report.broken).toEqual([]);
    expect(report.replaced).toHaveLength(2);
    for (const count of Object.values(report.answered)) expect(count).toBeGreaterThan(10);
  },
);
