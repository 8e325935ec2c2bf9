import { describe, expect, it } from 'vitest';
import { createListing } from './instructions/listing.js';
import { purchaseOneTime, purchaseSubscription } from './instructions/rental.js';
import {
  MAX_PRICE_LAMPORTS,
  MIN_PRICE_LAMPORTS,
  protocolFeeLamports,
  SUBSCRIPTION_DURATIONS_SECONDS,
  subscriptionPriceLamports,
} from './pricing.js';
import { Market } from './testing/market.js';
import { pseudoRandom } from './testing/pseudo-random.js';

/** Prices at the edges of the divisions inside the program, and over every order of magnitude. */
function prices(): bigint[] {
  const random = pseudoRandom(7);
  const edges = [1_000n, 1_001n, 9_999n, 10_000n, 10_001n, 2_591_999n, 2_592_000n, 2_592_001n, 5_183_999n];
  const spread = Array.from({ length: 60 }, (_, index) => {
    const magnitude = 10n ** BigInt(3 + (index % 13));
    return magnitude + (BigInt(random.next().value) * magnitude) / 2n ** 32n;
  });
  return [...edges, ...spread, MAX_PRICE_LAMPORTS - 1n, MAX_PRICE_LAMPORTS].filter(
    (price) => price >= MIN_PRICE_LAMPORTS && price <= MAX_PRICE_LAMPORTS,
  );
}

function setup() {
  const market = new Market();
  const list = (price: bigint, rentalModel: 'one_time' | 'subscription') => {
    const listingId = `p-${price}`;
    const { creator, authority } = market;
    const terms = { rentalModel, priceLamports: price, minDepositLamports: 0n, metadataUri: '' };
    market.chain.succeed(createListing({ creator, authority, listingId, ...terms }));
    market.chain.fund(creator, 10n ** 9n);
    return listingId;
  };
  const buyer = market.chain.wallet(2n ** 62n);
  return { market, list, buyer, chain: market.chain };
}

describe('the program’s arithmetic, against bigint', () => {
  it('takes the exact floor as fee, for every price and any basis points [PRG-7]', () => {
    const { market, list, buyer, chain } = setup();
    const random = pseudoRandom(11);
    for (const [index, price] of prices().entries()) {
      const feeBps = [0, 1, 999, 1_000][index] ?? random.next().value % 1_001;
      market.updateProtocol({ feeBps });
      const listingId = list(price, 'one_time');
      const before = chain.lamports(market.treasury);
      const { treasury } = market;
      chain.succeed(purchaseOneTime({ buyer, listingId, treasury, maxPriceLamports: price }));
      const fee = protocolFeeLamports(price, feeBps);
      expect(fee).toBe((price * BigInt(feeBps)) / 10_000n);
      expect(chain.lamports(market.treasury) - before).toBe(fee);
      expect(market.escrow(listingId).earningsLamports).toBe(price - fee);
    }
  });

  it('takes the exact floor as the price of a window [PRG-20]', () => {
    const { market, list, chain } = setup();
    for (const [index, price] of prices().entries()) {
      const durationSeconds = SUBSCRIPTION_DURATIONS_SECONDS[index % 3] ?? 0n;
      const listingId = list(price, 'subscription');
      const cost = subscriptionPriceLamports(price, durationSeconds);
      expect(cost).toBe((price * durationSeconds) / 2_592_000n);
      const buyer = chain.wallet(cost + 10n ** 9n);
      const input = { buyer, listingId, treasury: market.treasury, durationSeconds };
      expect(chain.send(purchaseSubscription({ ...input, maxPriceLamports: cost - 1n })).error).toBe(6_101);
      chain.succeed(purchaseSubscription({ ...input, maxPriceLamports: cost }));
      expect(market.escrow(listingId).earningsLamports).toBe(cost - protocolFeeLamports(cost, 250));
    }
  });
});

it('the client’s prices are refused for values that the program would refuse', () => {
  for (const [lamports, feeBps] of [
    [1n, 1_001],
    [1n, 0.5],
    [-1n, 1],
  ] as const)
    expect(() => protocolFeeLamports(lamports, feeBps)).toThrow(RangeError);
  expect(subscriptionPriceLamports(1_001n, 7_776_000)).toBe(3_003n);
  expect(() => subscriptionPriceLamports(1n, 2_592_001)).toThrow(RangeError);
  expect(() => subscriptionPriceLamports(-1n, 2_592_000)).toThrow(RangeError);
});
