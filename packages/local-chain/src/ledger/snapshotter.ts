import type { HistoryDump } from '../storage/history-index.js';
import { writeSnapshot } from '../storage/snapshot.js';
import { addressFromKey, type AccountState, type AddressedAccount } from './account-state.js';
import type { UndoEntry } from './undo-log.js';

interface SnapshotterOptions {
  dir: string;
  /** A snapshot is due when the journal has grown by this much since the last one. */
  intervalBytes: number;
  /** The ledger's state at the moment of the call. */
  capture: () => {
    position: number;
    unixMs: number;
    offsetMs: number;
    accountKeys: Iterable<string>;
    unfinalized: readonly UndoEntry[];
    history: HistoryDump;
  };
  accountAt: (address: Uint8Array) => AccountState | null;
  /** Resolves when everything in the journal so far is on the disk. */
  settled: () => Promise<void>;
  onError: (error: unknown) => void;
}

/**
 * Writes snapshots while the chain goes on: accounts that change meanwhile are written as they were when the
 * snapshot began (copy on write).
 */
export class Snapshotter {
  readonly #options: SnapshotterOptions;
  #lastPosition: number;
  #running: Promise<void> | null = null;
  /** The accounts that changed since the running snapshot began, with their state at its start. */
  #changedSince: Map<string, AccountState | null> | null = null;

  constructor(options: SnapshotterOptions, lastPosition: number) {
    this.#options = options;
    this.#lastPosition = lastPosition;
  }

  /** Must be called before an account changes. */
  beforeChange(key: string, before: AccountState | null): void {
    if (this.#changedSince !== null && !this.#changedSince.has(key)) this.#changedSince.set(key, before);
  }

  considerAt(journalEnd: number): void {
    if (this.#running !== null || journalEnd - this.#lastPosition < this.#options.intervalBytes) return;
    this.#running = this.#write()
      .catch(this.#options.onError)
      .finally(() => {
        this.#running = null;
        this.#changedSince = null;
      });
  }

  async idle(): Promise<void> {
    await this.#running;
  }

  async #write(): Promise<void> {
    const captured = this.#options.capture();
    const { position, unixMs, offsetMs, unfinalized, history } = captured;
    const changedSince = new Map<string, AccountState | null>();
    this.#changedSince = changedSince;
    this.#lastPosition = position;
    const accounts = accountsAsOf([...captured.accountKeys], changedSince, this.#options.accountAt);
    await writeSnapshot(
      this.#options.dir,
      { header: { position, unixMs, offsetMs }, accounts, unfinalized, history },
      this.#options.settled,
    );
  }
}

function* accountsAsOf(
  keys: string[],
  changedSince: Map<string, AccountState | null>,
  accountAt: (address: Uint8Array) => AccountState | null,
): Generator<AddressedAccount> {
  for (const key of keys) {
    const address = addressFromKey(key);
    const changed = changedSince.get(key);
    const account = changed === undefined ? accountAt(address) : changed;
    if (account !== null) yield { address, account };
  }
}
