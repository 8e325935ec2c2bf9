import { memoryAgreedPrices, type AgreedPrices } from './agreed-prices.js';
import { memoryQuestions, type QuestionLedger } from './questions.js';

/** A spend, made or planned. */
export interface SpendingEntry {
  /** Names the spend: the same id is the same money. */
  readonly id: string;
  readonly kind: 'rental' | 'run';
  readonly listingId: string;
  /** The counted amount. */
  readonly lamports: bigint;
  /** The highest allowed amount. */
  readonly allowedLamports: bigint;
  readonly timeMs: number;
}

/**
 * The spends of a wallet within the last day. An entry is written before the money moves, so it stays counted if the process
 * ends in between. Processes that spend for one wallet share one ledger.
 */
export interface SpendingLedger {
  /**
   * Stores an entry; it is durable when this resolves.
   *
   * @returns false if there is an entry with its id, which stays unchanged.
   */
  add(entry: SpendingEntry): Promise<boolean>;
  /** The entry with an id, if there is one. */
  find(id: string): Promise<SpendingEntry | undefined>;
  /** Entries from a time on. Older ones are forgotten. */
  since(timeMs: number): Promise<readonly SpendingEntry[]>;
  /** Replaces an entry's amount by the spent amount. */
  settle(id: string, lamports: bigint): Promise<void>;
  /** Removes an unspent entry. An entry that was moved since `timeMs` stays, because another call relies on it. */
  release(id: string, timeMs: number): Promise<void>;
  /** Counts an entry from a later time on, because its money may move later. */
  move(id: string, timeMs: number): Promise<void>;
  /** Questions to a person about spends. */
  readonly questions: QuestionLedger;
  /** The agreed prices per run of this wallet's own transactions. */
  readonly agreedPrices: AgreedPrices;
}

/** A ledger in memory, which ends with its process. Use `fileLedger` if a restart must not give a new day. */
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
