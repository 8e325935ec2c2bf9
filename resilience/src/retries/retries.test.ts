import { FORM, IS_QUICK, SEED } from '@agent-rental/test/support/form';
import { expect, test } from 'vitest';
import { runRetryBattery } from './battery.js';

const RENTERS = 6;
/** Calls of a renter: half of them are cut, and half of the answers are not read. */
const EACH = FORM === 'full' ? 4 : 2;
const CALLS = RENTERS * EACH;
const PAIRS = RENTERS * EACH;

test.skipIf(IS_QUICK)(
  'repeated calls after random aborts are paid once, and so are equal calls at once [RUN-24]',
  { timeout: 300_000 },
  async () => {
    const size = { calls: CALLS, pairs: PAIRS, each: EACH, concurrency: RENTERS };
    const report = await runRetryBattery({ ...size, seed: SEED, log: () => undefined });
    expect(report).toMatchObject({ callCharges: CALLS, lost: 0, pairCharges: PAIRS, isRight: true });
  },
);
