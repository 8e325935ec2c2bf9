import { expect, test } from 'vitest';
import { FORM, IS_QUICK } from '@agent-rental/test/support/form';
import { runStrangersSoak } from './soak.js';

test.skipIf(IS_QUICK)(
  'honest callers are served beside each attack of strangers, and no attack is answered 500',
  { timeout: 300_000 },
  async () => {
    // Other tests share the machine, so nothing is judged by its time.
    const bounds = { slowerTimes: Infinity, blockedMs: Infinity, residentMb: Infinity };
    const attackMs = FORM === 'full' ? 10_000 : 5_000;
    const report = await runStrangersSoak({ quietMs: 2_000, attackMs, bounds, log: () => undefined });
    expect(report.broken).toEqual([]);
    expect(report.attacked.times.run.count).toBeGreaterThan(0);
    const some = expect.any(Number) as number;
    expect(report.answers).toMatchObject({
      'heavy drafts': { 202: some },
      'wallets of one address': { 200: some },
      'hostile bodies': { 400: some, 413: some },
      'hostile addresses': { 400: some },
      'hostile answers': { 200: some },
      archives: { 201: some, 400: some },
      'slow client documents': { 503: some },
      'outputs read again': { 200: some },
    });
  },
);
