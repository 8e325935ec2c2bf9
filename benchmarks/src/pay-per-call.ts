import { startMarket } from './harness/market.js';
import { measureCalls } from './pay-per-call/calls.js';
import { measureRefusals } from './pay-per-call/refusals.js';
import { Sheet, type Suite } from './report.js';

const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 30);
const WARM_UP_ROUNDS = 5;
const PRICE_LAMPORTS = 250_000;

/** Measures so many rounds of each row. */
export async function measurePayPerCall(
  { rounds, warmUps }: { rounds: number; warmUps: number },
  sheet: Sheet,
): Promise<Sheet> {
  sheet.progress('Starting the marketplace');
  const market = await startMarket();
  try {
    const listing = await market.publish('connected', 'paid-per-call', {
      listing: { price_lamports: PRICE_LAMPORTS },
    });
    await measureRefusals(market, { listing, rounds, warmUps }, sheet);
    await measureCalls(market, { listing, priceLamports: PRICE_LAMPORTS, rounds, warmUps }, sheet);
  } finally {
    await market.close();
  }
  sheet.setting = { rounds };
  return sheet;
}

/** The costs of asking for a payment and of a paid call. */
export const suite: Suite = {
  name: 'pay-per-call',
  summary:
    'a 402 against a 403; a paid call against settling with the bare package and the same run by a rental',
  run: (progress) => measurePayPerCall({ rounds: ROUNDS, warmUps: WARM_UP_ROUNDS }, new Sheet(progress)),
};
