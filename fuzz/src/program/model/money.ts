/** The largest number of lamports in a field. */
export const U64_MAX = 2n ** 64n - 1n;

/** The last second of a clock. */
export const I64_MAX = 2n ** 63n - 1n;

/** The highest price: 1,000,000 SOL. */
export const MAX_PRICE = 10n ** 15n;

/** The lowest price. */
export const MIN_PRICE = 1_000n;

/** The highest fee: 10%. */
export const MAX_FEE_BPS = 1_000;

/** The period of a subscription's price: 30 days, in seconds. */
const PERIOD = 2_592_000n;

/** The offered durations of a subscription, in seconds. */
export const DURATIONS: readonly bigint[] = [2_592_000n, 7_776_000n, 31_536_000n];

/** The pauses within 30 days after which a buyer may reclaim, in seconds: 7 days. */
export const RECLAIM_AFTER = 604_800n;

/** The time after a change in which a charge may have the previous price, in seconds: 15 minutes. */
export const PREVIOUS_PRICE = 900n;

/** The treasury's part of a price, rounded down. */
export function feeOf(price: bigint, feeBps: number): bigint {
  return (price * BigInt(feeBps)) / 10_000n;
}

/** The price of a subscription's duration, rounded down. */
export function windowCost(pricePerPeriod: bigint, duration: bigint): bigint {
  return (pricePerPeriod * duration) / PERIOD;
}
