import type { PublishedListing } from '../listings/index.js';
import type { Quote } from './payment.js';

/** The network's fee for a signature. */
const SIGNATURE_FEE_LAMPORTS = 5_000n;

/** The costs of making a payment a balance. */
export interface FundingCosts {
  /** The rent of the accounts of a first rental, in lamports. */
  rentLamports(): Promise<bigint>;
  /** Signatures of the till's transaction. */
  signatures: number;
}

/** The fee that a payment bears for its transfer. The operator bears a priority fee. */
export const transferFeeLamports = (signatures: number): bigint =>
  BigInt(signatures) * SIGNATURE_FEE_LAMPORTS;

/**
 * The cost of a call now: the price and the network's fee, where the payer has a rental. A first payment also holds the
 * rent, and the minimum deposit where that is above the price.
 */
export async function quoteOf(
  listing: PublishedListing,
  hasRental: boolean,
  { rentLamports, signatures }: FundingCosts,
): Promise<Quote> {
  const { priceLamports, minDepositLamports } = listing;
  const fee = transferFeeLamports(signatures);
  const first = minDepositLamports > priceLamports ? minDepositLamports : priceLamports;
  const lamports = fee + (hasRental ? priceLamports : first + (await rentLamports()));
  return { listing, lamports, priceLamports };
}
