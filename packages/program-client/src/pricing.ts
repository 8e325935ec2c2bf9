import type { Listing } from './accounts/accounts.js';

/**
 * The program's money arithmetic, exact to the lamport, so that a price can be shown before it is paid.
 * The program and this client round down at each division.
 */

/** The protocol's fee can never be above this: 10%. */
export const MAX_FEE_BPS = 1_000;

/** The default fee of a protocol: 2.5%. */
export const DEFAULT_FEE_BPS = 250;

/** The lowest price of any listing, in lamports. */
export const MIN_PRICE_LAMPORTS = 1_000n;

/** The highest price, deposit minimum and per-query floor, in lamports: 1,000,000 SOL. */
export const MAX_PRICE_LAMPORTS = 1_000_000_000_000_000n;

/** The default floor of a Per-Task price, in lamports: its fee then pays the charge's signature. */
export const DEFAULT_MIN_QUERY_PRICE_LAMPORTS = 200_000n;

/** The longest metadata URI in UTF-8 bytes. */
export const MAX_METADATA_URI_BYTES = 200;

/** The period of a subscription's listing price, in seconds. */
export const SUBSCRIPTION_PERIOD_SECONDS = 2_592_000n;

/** The windows of a subscription, in seconds: 30, 90 and 365 days. */
export const SUBSCRIPTION_DURATIONS_SECONDS = [2_592_000n, 7_776_000n, 31_536_000n] as const;

/** The time after a change of price in which runs are still charged at the previous price, in seconds: 15 minutes. */
export const PREVIOUS_PRICE_SECONDS = 900n;

const BASIS_POINTS = 10_000n;

/**
 * The part of a price that goes to the treasury; the escrow gets the rest, the renter pays the price.
 *
 * @param priceLamports the renter's price, in lamports
 * @param feeBps the protocol's fee in basis points, 0 to 1,000
 * @throws RangeError on a negative price or a fee outside its range
 */
export function protocolFeeLamports(priceLamports: bigint, feeBps: number): bigint {
  if (priceLamports < 0n) {
    throw new RangeError('A price cannot be negative.');
  }
  if (!Number.isInteger(feeBps) || feeBps < 0 || feeBps > MAX_FEE_BPS) {
    throw new RangeError(`A fee is a whole number of basis points from 0 to ${MAX_FEE_BPS}.`);
  }
  return (priceLamports * BigInt(feeBps)) / BASIS_POINTS;
}

/**
 * Whether `consume_query` charges this price now: the listing's present price, or its previous one when the last change
 * is less than 15 minutes ago. Of several changes only the last counts.
 *
 * @param now Unix seconds, by the cluster's clock
 */
export function isChargeablePrice(
  listing: Pick<Listing, 'priceLamports' | 'previousPriceLamports' | 'priceChangedAt'>,
  priceLamports: bigint,
  now: bigint,
): boolean {
  const { previousPriceLamports, priceChangedAt } = listing;
  return (
    priceLamports === listing.priceLamports ||
    (priceLamports === previousPriceLamports &&
      priceChangedAt !== null &&
      now - priceChangedAt < PREVIOUS_PRICE_SECONDS)
  );
}

/**
 * The price of a subscription window: the listing's price is for 30 days.
 *
 * @param pricePer30DaysLamports the listing's price, in lamports
 * @param durationSeconds one of {@link SUBSCRIPTION_DURATIONS_SECONDS}
 * @throws RangeError on any other duration, or a negative price
 */
export function subscriptionPriceLamports(
  pricePer30DaysLamports: bigint,
  durationSeconds: bigint | number,
): bigint {
  const duration = BigInt(durationSeconds);
  if (!SUBSCRIPTION_DURATIONS_SECONDS.some((allowed) => allowed === duration)) {
    throw new RangeError('A subscription lasts 2592000, 7776000 or 31536000 seconds.');
  }
  if (pricePer30DaysLamports < 0n) {
    throw new RangeError('A price cannot be negative.');
  }
  return (pricePer30DaysLamports * duration) / SUBSCRIPTION_PERIOD_SECONDS;
}
