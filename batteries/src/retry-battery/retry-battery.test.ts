import { IS_QUICK } from '@agent-rental/test/support/form';
import { expect, test } from 'vitest';
import { runRetryBattery } from './battery.js';

test.skipIf(IS_QUICK)(
  'calls that are given up at random moments and made again are paid once, equal calls at once twice [RUN-24]',
  { timeout: 300_000 },
  async () => {
    const report = await runRetryBattery({
      calls: 24,
      pairs: 12,
      concurrency: 6,
      seed: 11,
      cutAfterEndMs: 200,
      log: () => undefined,
    });
    expect(report).toMatchObject({ callCharges: 24, lost: 0, pairCharges: 24, isRight: true });
  },
);
