import { readFileSync } from 'node:fs';
import { marketplaceSoPath } from '@agent-rental/program-client/artifact';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MODEL } from '../model/state.js';
import { PER_QUERY, Shop } from './shop.test-support.js';

const so = readFileSync(process.env['MARKETPLACE_SO'] ?? marketplaceSoPath());

const RUNS = 400;
const MAX_PRICE = 10n ** 15n;
const SUBSCRIPTION = 1;
const PERIOD = 2_592_000n;

const feeBps = fc.oneof(fc.integer({ min: 0, max: 1_000 }), fc.constantFrom(0, 1, 250, 999, 1_000));

/** Prices of every size, and prices at the limits of a division's remainder. */
const price = fc.oneof(
  fc.bigInt({ min: 1_000n, max: MAX_PRICE }),
  fc.bigInt({ min: 1_000n, max: 100_000n }),
  fc.constantFrom(
    1_000n,
    9_999n,
    10_000n,
    10_001n,
    PERIOD - 1n,
    PERIOD,
    PERIOD + 1n,
    MAX_PRICE - 1n,
    MAX_PRICE,
  ),
);

describe('the payment', () => {
  test('for a run is the price: the fee, rounded down, goes to the treasury, and the rest is earned [PRG-7]', () => {
    const shop = new Shop(so, 1);
    let sequence = 0n;
    fc.assert(
      fc.property(price, feeBps, (priceLamports, bps) => {
        shop.setFee(bps);
        shop.reprice(PER_QUERY, priceLamports);
        shop.succeed('topup_balance', PER_QUERY, {
          amount_lamports: priceLamports,
          max_price_lamports: priceLamports,
        });
        const before = shop.balances(PER_QUERY);
        sequence += 1n;
        expect(shop.consume(sequence)).toBeNull();
        const after = shop.balances(PER_QUERY);
        const fee = (priceLamports * BigInt(bps)) / 10_000n;
        expect(after.treasury - before.treasury).toBe(fee);
        expect(after.escrow - before.escrow).toBe(priceLamports - fee);
        expect(after.buyer).toBe(before.buyer);
        shop.world.step({ kind: 'fund', wallet: shop.universe.wallets.buyer, lamports: 10n ** 17n });
      }),
      { numRuns: RUNS, seed: 20 },
    );
  });

  test('for a window of a subscription is the price of 30 days in proportion, rounded down [PRG-20]', () => {
    const shop = new Shop(so, 2);
    shop.list(SUBSCRIPTION, MODEL.subscription, 1_000n);
    shop.succeed('purchase_subscription', SUBSCRIPTION, {
      duration_seconds: PERIOD,
      max_price_lamports: 1_000n,
    });
    fc.assert(
      fc.property(price, feeBps, fc.constantFrom(30n, 90n, 365n), (priceLamports, bps, days) => {
        shop.setFee(bps);
        shop.reprice(SUBSCRIPTION, priceLamports);
        const seconds = days * 86_400n;
        const cost = (priceLamports * seconds) / PERIOD;
        shop.world.step({ kind: 'clock', now: shop.world.ledger.now + 366n * 86_400n });
        shop.world.step({ kind: 'fund', wallet: shop.universe.wallets.buyer, lamports: 10n ** 17n });
        const before = shop.balances(SUBSCRIPTION);
        const renew = { duration_seconds: seconds, max_price_lamports: cost - 1n };
        expect(shop.send('renew_subscription', SUBSCRIPTION, renew)).toBe('PriceAboveLimit');
        shop.succeed('renew_subscription', SUBSCRIPTION, { ...renew, max_price_lamports: cost });
        const after = shop.balances(SUBSCRIPTION);
        const fee = (cost * BigInt(bps)) / 10_000n;
        expect(before.buyer - after.buyer).toBe(cost);
        expect(after.treasury - before.treasury).toBe(fee);
        expect(after.escrow - before.escrow).toBe(cost - fee);
        shop.send('withdraw_earnings', SUBSCRIPTION, { amount_lamports: null });
      }),
      { numRuns: RUNS, seed: 21 },
    );
  });

  test('for a One-Time credential is the price and no lamport more than its rent', () => {
    fc.assert(
      fc.property(price, feeBps, (priceLamports, bps) => {
        const shop = new Shop(so, 3);
        shop.setFee(bps);
        shop.list(SUBSCRIPTION, MODEL.oneTime, priceLamports);
        const before = shop.balances(SUBSCRIPTION);
        shop.succeed('purchase_one_time', SUBSCRIPTION, { max_price_lamports: priceLamports });
        const after = shop.balances(SUBSCRIPTION);
        const fee = (priceLamports * BigInt(bps)) / 10_000n;
        const rent = BigInt(124 + 128) * 6_960n;
        expect(before.buyer - after.buyer).toBe(priceLamports + rent);
        expect(after.treasury - before.treasury).toBe(fee);
        expect(after.escrow - before.escrow).toBe(priceLamports - fee);
      }),
      { numRuns: 5, seed: 22 },
    );
  });
});
