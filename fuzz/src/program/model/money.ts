/** The largest number of lamports that a field holds. */
export const U64_MAX = 2n ** 64n - 1n;

/** The last second that a clock can show. */
export const I64_MAX = 2n ** 63n - 1n;

/** The highest price: 1,000,000 SOL. */
export const MAX_PRICE = 10n ** 15n;

/** The lowest price. */
export const MIN_PRICE = 1_000n;

/** 10%. */
export const MAX_FEE_BPS = 1_000;

/** The time that a subscription's price is for: 30 days, in seconds. */
const PERIOD = 2_592_000n;

/** The windows on sale, in seconds. */
export const DURATIONS: readonly bigint[] = [2_592_000n, 7_776_000n, 31_536_000n];

/** How long a listing was paused within 30 days when a buyer may reclaim, in seconds: 7 days. */
export const RECLAIM_AFTER = 604_800n;

/** How long after a change a run is still charged at the price before it, in seconds: 15 minutes. */
export const PREVIOUS_PRICE = 900n;

/** The treasury's part of a price, rounded down. */
export function feeOf(price: bigint, feeBps: number): bigint {
  return (price * BigInt(feeBps)) / 10_000n;
}

/** What a subscription window costs, rounded down. */
export function windowCost(pricePerPeriod: bigint, duration: bigint): bigint {
  return (pricePerPeriod * duration) / PERIOD;
}
