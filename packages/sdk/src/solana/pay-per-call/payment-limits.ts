import { formatSol } from '@agent-rental/contract';
import { UntrustedTransactionError } from '../verify/untrusted-transaction.js';

/** The limits of payments for single calls, in lamports. All amounts have the network's fee in them. */
export interface PaymentLimits {
  /** The most that one payment may take from the wallet. A first one has the deposit and the rent of accounts in it. */
  maxPaymentLamports: bigint;
  /** The most that all payments may take within any 24 hours. The count ends with the process. */
  maxDayLamports: bigint;
  /** The only listings that may be paid for. Default: any. */
  listingIds?: readonly string[] | undefined;
}

const DAY_MS = 86_400_000;

/**
 * Counts payments against their limits.
 *
 * @returns `reserve`, which counts a payment and gives the function that takes it off the count
 * @throws TypeError without both amounts: a wallet without a limit would pay any price
 */
export function createPaymentCount({ maxPaymentLamports, maxDayLamports, listingIds }: PaymentLimits) {
  for (const amount of [maxPaymentLamports, maxDayLamports] as unknown[]) {
    if (typeof amount !== 'bigint') throw new TypeError('maxPaymentLamports and maxDayLamports are bigints.');
  }
  let counted: { lamports: bigint; timeMs: number }[] = [];

  /** @throws UntrustedTransactionError `limit`; then nothing is counted. */
  return function reserve(listingId: string, lamports: bigint): () => void {
    if (listingIds !== undefined && !listingIds.includes(listingId))
      throw refuse(`pays for ${listingId}, which is not one of the allowed listings`);
    if (lamports > maxPaymentLamports)
      throw refuse(
        `takes ${formatSol(lamports)}, more than ${formatSol(maxPaymentLamports)} for one payment`,
      );
    const now = Date.now();
    counted = counted.filter(({ timeMs }) => timeMs > now - DAY_MS);
    const spent = counted.reduce((sum, one) => sum + one.lamports, 0n);
    if (spent + lamports > maxDayLamports)
      throw refuse(
        `takes ${formatSol(lamports)} after ${formatSol(spent)} within 24 hours, more than ${formatSol(maxDayLamports)}`,
      );
    const entry = { lamports, timeMs: now };
    counted.push(entry);
    return () => {
      counted = counted.filter((one) => one !== entry);
    };
  };
}

const refuse = (what: string) => new UntrustedTransactionError('limit', what);
