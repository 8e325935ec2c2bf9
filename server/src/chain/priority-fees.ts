import type { PublicKey } from '@solana/web3.js';
import type { Chain } from './chain.js';

/** An estimate is used this long. */
const FRESH_MS = 10_000;
const MICRO_LAMPORTS = 1_000_000n;
/** This share of the recent fees is at most the estimate. */
const QUANTILE = 0.75;

/** Estimates the priority fee of a transaction, so that it lands on a busy cluster. */
export interface PriorityFees {
  /**
   * The price of a compute unit in micro-lamports for a transaction that writes to these accounts. It is the upper
   * quartile of the cluster's reported fees for them. The priority fee of `units` stays within the estimator's bound. 0 if
   * the cluster asks for none, or cannot be reached.
   */
  estimate(writable: readonly PublicKey[], units: number): Promise<bigint>;
  /**
   * As `estimate`, without waiting for the cluster: the newest estimate there is, whose accounts may be others of the same
   * program. A newer one is asked for in the background. For transactions on the way of a run.
   */
  latest(writable: readonly PublicKey[], units: number): bigint;
}

/**
 * Makes the estimator.
 *
 * @param maxFeeLamports the most that one transaction pays beyond the base fee; 0 switches priority fees off.
 */
export function createPriorityFees(
  chain: Pick<Chain, 'recentPriorityFees'>,
  maxFeeLamports: bigint,
  now: () => number = Date.now,
): PriorityFees {
  let newest = { askedAt: Number.NEGATIVE_INFINITY, price: 0n };
  let asking: Promise<bigint> | undefined;

  /** Failures give the estimate before. */
  const ask = (writable: readonly PublicKey[]): Promise<bigint> => {
    asking ??= chain
      .recentPriorityFees(writable)
      .then(quantile, () => newest.price)
      .then((price) => {
        newest = { askedAt: now(), price };
        return price;
      })
      .finally(() => (asking = undefined));
    return asking;
  };
  const isFresh = () => now() - newest.askedAt < FRESH_MS;
  const bounded = (price: bigint, units: number): bigint => {
    const most = (maxFeeLamports * MICRO_LAMPORTS) / BigInt(units);
    return price < most ? price : most;
  };

  return {
    async estimate(writable, units) {
      if (maxFeeLamports === 0n) return 0n;
      return bounded(isFresh() ? newest.price : await ask(writable), units);
    },
    latest(writable, units) {
      if (maxFeeLamports === 0n) return 0n;
      if (!isFresh()) void ask(writable);
      return bounded(newest.price, units);
    },
  };
}

function quantile(fees: readonly number[]): bigint {
  const sorted = fees.toSorted((a, b) => a - b);
  return BigInt(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * QUANTILE))] ?? 0);
}
