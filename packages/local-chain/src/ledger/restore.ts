import { Journal, type JournalOptions } from '../storage/journal.js';
import { decodeRecord, type ForkRecord, type TransactionRecord } from '../storage/records.js';
import { loadSnapshot } from '../storage/snapshot.js';
import { addressKey, type AccountState, type AddressedAccount } from './account-state.js';
import { TransactionHistory } from './transactions/transaction-history.js';
import { UndoLog } from './undo-log.js';

interface RestoreOptions {
  snapshotDir: string;
  finalizedSlots: number;
  /** The state of an address on a chain without transactions. */
  initialAccount: (address: Uint8Array) => AccountState | null;
  journal: Omit<JournalOptions, 'fromPosition' | 'replay'>;
}

interface RestoredState {
  journal: Journal;
  history: TransactionHistory;
  undoLog: UndoLog;
  /** Every account that a transaction ever changed; null for a closed account. */
  accounts: Map<string, AccountState | null>;
  /** The latest chain time in any record. */
  unixMs: number;
  /** How far warps moved the chain's clock ahead of the wall clock. */
  offsetMs: number;
  /** The journal position of the snapshot that was used; 0 without one. */
  snapshotPosition: number;
}

export function restoreState(options: RestoreOptions): RestoredState {
  const replay = new Replay(options);
  const header = loadSnapshot(options.snapshotDir, {
    account: (account) => replay.setAccount(account),
    unfinalized: (entry) => replay.undoLog.push(entry),
    history: (dump) => replay.history.load(dump),
  });
  const journal = new Journal({
    ...options.journal,
    fromPosition: header?.position ?? 0,
    replay: (payload, position) => replay.apply(payload, position),
  });
  replay.journal = journal;
  return {
    journal,
    history: replay.history,
    undoLog: replay.undoLog,
    accounts: replay.accounts,
    unixMs: Math.max(replay.unixMs, header?.unixMs ?? 0),
    offsetMs: replay.offsetMs ?? header?.offsetMs ?? 0,
    snapshotPosition: header?.position ?? 0,
  };
}

class Replay {
  readonly accounts = new Map<string, AccountState | null>();
  readonly undoLog = new UndoLog();
  readonly history: TransactionHistory;
  readonly #options: RestoreOptions;
  unixMs = 0;
  offsetMs: number | null = null;
  /** Set once the journal is open. */
  journal: Journal | null = null;

  constructor(options: RestoreOptions) {
    this.#options = options;
    this.history = new TransactionHistory((position) => {
      if (this.journal === null) throw new Error('the journal is not open yet');
      return this.journal.read(position);
    });
  }

  setAccount({ address, account }: AddressedAccount): void {
    this.accounts.set(addressKey(address), copyOf(account));
  }

  apply(payload: Buffer, position: number): void {
    const record = decodeRecord(payload);
    switch (record.kind) {
      case 'transaction':
        this.#applyTransaction(record, position);
        break;
      case 'warp':
        this.unixMs = Math.max(this.unixMs, record.unixMs);
        this.offsetMs = record.offsetMs;
        break;
      case 'fork':
        this.#applyFork(record);
        break;
    }
  }

  #applyTransaction(record: TransactionRecord, position: number): void {
    this.unixMs = Math.max(this.unixMs, record.unixMs);
    const { writable, readonly } = record.outcome().loadedAddresses;
    const number = this.history.add(
      { wire: record.wire, loadedAddresses: [...writable, ...readonly] },
      position,
    );
    const before = record.changes.map(({ address }) => {
      const known = this.accounts.get(addressKey(address));
      const account = known === undefined ? this.#options.initialAccount(address) : known;
      return { address, account };
    });
    this.undoLog.push({ slot: record.slot, number, before });
    this.undoLog.finalize(record.slot - this.#options.finalizedSlots);
    for (const change of record.changes) this.setAccount(change);
  }

  #applyFork(record: ForkRecord): void {
    for (const number of record.dropped) {
      this.undoLog.pop();
      this.history.drop(number);
    }
    for (const account of record.restored) this.setAccount(account);
  }
}

/** Records are views into a large read buffer, which must not stay in memory for the sake of one account. */
function copyOf(account: AccountState | null): AccountState | null {
  if (account === null) return null;
  return { ...account, owner: Buffer.from(account.owner), data: Buffer.from(account.data) };
}
