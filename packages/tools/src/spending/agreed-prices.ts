/**
 * The agreed price per run of each listing, from this wallet's own transactions. The program keeps the same number and charges
 * no more. It limits a run's cost even if a marketplace reports a lower price.
 */
export interface AgreedPrices {
  /** Notes the agreed price of a transaction before its signature. */
  note(listingId: string, lamports: bigint): Promise<void>;
  /** Notes that the transaction is confirmed. Earlier prices are no longer valid. */
  confirm(listingId: string, lamports: bigint): Promise<void>;
  /** The highest price that may be valid; undefined if this ledger has none. */
  highest(listingId: string): Promise<bigint | undefined>;
}

/** Agreed prices in memory, which end with the process. */
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

/** The highest of some amounts; undefined without amounts. */
export function highestOf(amounts: readonly bigint[]): bigint | undefined {
  const [first, ...rest] = amounts;
  return first === undefined ? undefined : rest.reduce((most, one) => (one > most ? one : most), first);
}
