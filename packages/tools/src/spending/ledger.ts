/** Something spent, or about to be. */
export interface SpendingEntry {
  /** Names the spending: the same id is the same money. */
  readonly id: string;
  readonly kind: 'rental' | 'run';
  readonly listingId: string;
  readonly lamports: bigint;
  readonly timeMs: number;
}

/**
 * What a wallet has spent within the last day. Entries are written before the money moves, so that a process that
 * ends in between leaves them counted.
 */
export interface SpendingLedger {
  /**
   * Writes an entry down; it is kept when this resolves.
   *
   * @returns false when there is one with its id: that stays as it is.
   */
  add(entry: SpendingEntry): Promise<boolean>;
  /** Entries from a time on. Older ones are forgotten. */
  since(timeMs: number): Promise<readonly SpendingEntry[]>;
  /** Replaces an entry's amount by what it came to; 0 takes it off. */
  settle(id: string, lamports: bigint): Promise<void>;
}

/** A ledger that ends with its process. Where a restart must not give a new day, use `fileLedger`. */
export function memoryLedger(): SpendingLedger {
  const entries = new Map<string, SpendingEntry>();
  return {
    add: async (entry) => {
      if (entries.has(entry.id)) return false;
      entries.set(entry.id, entry);
      return true;
    },
    since: async (timeMs) => {
      for (const [id, entry] of entries) if (entry.timeMs < timeMs) entries.delete(id);
      return [...entries.values()];
    },
    settle: async (id, lamports) => {
      const entry = entries.get(id);
      if (entry === undefined) return;
      if (lamports > 0n) entries.set(id, { ...entry, lamports });
      else entries.delete(id);
    },
  };
}
