import { expect, test } from 'vitest';
import { runSandboxSoak } from './soak.js';
import { FORM, IS_QUICK, SEED } from '@agent-rental/test/support/form';

test.skipIf(IS_QUICK)(
  'sampled kinds of hostile code and a crash leave nothing behind and block no other caller [EXE-43, EXE-62, OPS-6]',
  { timeout: 300_000 },
  async () => {
    const report = await runSandboxSoak({
      runs: FORM === 'full' ? 30 : 8,
      kills: 1,
      concurrency: 3,
      quietRuns: FORM === 'full' ? 10 : 5,
      seed: SEED,
      // Wider than in the full soak, because other tests share the machine.
      bounds: { blockedMs: 1_000, slowerTimes: 50 },
      log: () => undefined,
    });
    expect(report.broken).toEqual([]);
    expect(report.processes_left).toEqual([]);
    expect(report.phases).toHaveLength(2);
  },
);
