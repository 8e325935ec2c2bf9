import { memoryAgreedPrices, type AgreedPrices } from './agreed-prices.js';
import { memoryQuestions, type QuestionLedger } from './questions.js';

/** Something spent, or about to be. */
export interface SpendingEntry {
  /** Names the spending: the same id is the same money. */
  readonly id: string;
  readonly kind: 'rental' | 'run';
  readonly listingId: string;
  /** The kind that it counts for. */
  readonly lamports: bigint;
  /** The most that was allowed for it. */
  readonly allowedLamports: bigint;
  readonly timeMs: number;
}

/**
 * The spends of a wallet within the last day. Entries are written before the money moves, so that a process that
 * ends in between leaves them counted. Processes that spend for one wallet share one ledger.
 */
export interface SpendingLedger {
  /**
   * Writes an entry down; it is kept when this resolves.
   *
   * @returns false when there is one with its id: that stays as it is.
   */
  add(entry: SpendingEntry): Promise<boolean>;
  /** The entry with an id, where there is one. */
  find(id: string): Promise<SpendingEntry | undefined>;
  /** Entries from a time on. Older ones are forgotten. */
  since(timeMs: number): Promise<readonly SpendingEntry[]>;
  /** Replaces an entry's amount by the amount that was spent. */
  settle(id: string, lamports: bigint): Promise<void>;
  /** Removes an entry that was not spent, unless it was moved since that time, because then another call relies on it. */
  release(id: string, timeMs: number): Promise<void>;
  /** Counts an entry from a later time on: its money may move now, and not when it was written down. */
  move(id: string, timeMs: number): Promise<void>;
  /** Questions to a person about spends. */
  readonly questions: QuestionLedger;
  /** The prices per run that this wallet's own transactions agreed to. */
  readonly agreedPrices: AgreedPrices;
}

/** A ledger that ends with its process. Where a restart must not give a new day, use `fileLedger`. */
export function memoryLedger(): SpendingLedger {
  const entries = new Map<string, SpendingEntry>();
  const change = (id: string, changes: Partial<SpendingEntry>): void => {
    const entry = entries.get(id);
    if (entry !== undefined) entries.set(id, { ...entry, ...changes });
  };
  return {
    add: async (entry) => {
      if (entries.has(entry.id)) return false;
      entries.set(entry.id, entry);
      return true;
    },
    find: async (id) => entries.get(id),
    since: async (timeMs) => {
      for (const [id, entry] of entries) if (entry.timeMs < timeMs) entries.delete(id);
      return [...entries.values()];
    },
    settle: async (id, lamports) => change(id, { lamports }),
    release: async (id, timeMs) => {
      if (entries.get(id)?.timeMs === timeMs) entries.delete(id);
    },
    move: async (id, timeMs) => change(id, { timeMs }),
    questions: memoryQuestions(),
    agreedPrices: memoryAgreedPrices(),
  };
}
