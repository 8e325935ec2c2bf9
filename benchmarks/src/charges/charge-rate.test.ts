import { afterAll, beforeAll, expect, it } from 'vitest';
import { startChargedListings, type ChargedListings } from './charge-rate.js';

const RUNS = 20;
const FEE_LAMPORTS = 5_000;

let charged: ChargedListings;
beforeAll(async () => {
  charged = await startChargedListings(1, 'local-chain');
}, 60_000);
afterAll(() => charged?.close());

it('20 concurrent charges of a listing cost the fees of a few transactions when packed, and of 20 when not [MON-9]', async () => {
  const alone = await charged.round(RUNS, 1);
  expect(alone).toMatchObject({ runs: RUNS, feeLamports: RUNS * FEE_LAMPORTS });
  const packed = await charged.round(RUNS);
  expect(packed.runs).toBe(RUNS);
  expect(packed.feeLamports).toBeLessThanOrEqual((RUNS / 4) * FEE_LAMPORTS);
});
