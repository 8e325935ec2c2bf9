/**
 * The most that a run of a listing may draw from the prepaid balance, as this wallet's own transactions agreed to it.
 * The program keeps the same number and charges no more, so it bounds a run even where a marketplace tells a lower price.
 */
export interface AgreedPrices {
  /** Notes a price that a transaction agrees to which is about to be signed. */
  note(listingId: string, lamports: bigint): Promise<void>;
  /** A transaction with that price is confirmed: the prices noted before it hold no more. */
  confirm(listingId: string, lamports: bigint): Promise<void>;
  /** The highest price that may hold; undefined where this wallet agreed to none through this ledger. */
  highest(listingId: string): Promise<bigint | undefined>;
}

/** Prices that are forgotten with the process. */
export function memoryAgreedPrices(): AgreedPrices {
  const byListing = new Map<string, Set<bigint>>();
  return {
    note: async (listingId, lamports) => {
      byListing.set(listingId, (byListing.get(listingId) ?? new Set()).add(lamports));
    },
    confirm: async (listingId, lamports) => {
      byListing.set(listingId, new Set([lamports]));
    },
    highest: async (listingId) => highestOf([...(byListing.get(listingId) ?? [])]),
  };
}

/** The highest of some amounts. */
export function highestOf(amounts: readonly bigint[]): bigint | undefined {
  const [first, ...rest] = amounts;
  return first === undefined ? undefined : rest.reduce((most, one) => (one > most ? one : most), first);
}
