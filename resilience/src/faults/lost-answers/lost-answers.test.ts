import { SEED } from '@agent-rental/test/support/form';
import { expect, test } from 'vitest';
import { isPlayed } from '../../sampled-batteries.js';
import { runLostAnswers } from './battery.js';

test.runIf(isPlayed('payments', 'lost answers'))(
  'paid calls whose answers were lost at a sample of moments are paid and charged once, and no result is lost',
  { timeout: 300_000 },
  async () => {
    const report = await runLostAnswers({ calls: 16, concurrency: 8, seed: SEED, log: () => undefined });
    expect(report.broken).toEqual([]);
    expect(Object.keys(report.broke).length).toBeGreaterThan(1);
  },
);
