import { HistoryIndex, type HistoryDump } from '../../storage/history-index.js';
import type { Journal } from '../../storage/journal.js';
import { decodeRecord, type TransactionRecord } from '../../storage/records.js';
import type { TransactionOutcome } from './transaction-outcome.js';
import { readAddresses } from './wire-transaction.js';

/** A transaction that landed, read from the journal. */
export interface LandedTransaction {
  /** Counts from 0 in order of execution. */
  number: number;
  slot: number;
  unixMs: number;
  signature: Uint8Array;
  wire: Uint8Array;
  changes: TransactionRecord['changes'];
  outcome: TransactionOutcome;
}

interface NewTransaction {
  wire: Uint8Array;
  loadedAddresses: readonly Uint8Array[];
}

/** A page of an address's transactions: newer limits are exclusive, as in the RPC. */
interface HistoryPage {
  limit: number;
  /** Start after this transaction, going back in time. */
  before?: Uint8Array | undefined;
  /** Stop at this transaction. */
  until?: Uint8Array | undefined;
  /** Leave out transactions of newer slots. */
  maxSlot: number;
}

/** A cache: status polls read the same few transactions repeatedly. */
const CACHED_TRANSACTIONS = 256;
const CACHEABLE_BYTES = 16 * 1024;

/** Every transaction that landed. Only the index is in memory. */
export class TransactionHistory {
  readonly #index = new HistoryIndex();
  readonly #readJournal: (position: number) => Buffer;
  readonly #cache = new Map<number, LandedTransaction>();

  constructor(readJournal: Journal['read']) {
    this.#readJournal = readJournal;
  }

  get count(): number {
    return this.#index.count;
  }

  /** Adds the transaction whose record is at a journal position. */
  add({ wire, loadedAddresses }: NewTransaction, location: number): number {
    const { signature, staticAddresses } = readAddresses(wire);
    return this.#index.add(signature, [...staticAddresses, ...loadedAddresses], location);
  }

  drop(number: number): void {
    this.#index.drop(number);
    this.#cache.delete(number);
  }

  find(signature: Uint8Array): LandedTransaction | null {
    for (const number of this.#index.withSignature(signature)) {
      const landed = this.get(number);
      if (landed !== null && Buffer.compare(landed.signature, signature) === 0) return landed;
    }
    return null;
  }

  /** The transaction of a number; null when a fork dropped it. */
  get(number: number): LandedTransaction | null {
    const cached = this.#cache.get(number);
    if (cached !== undefined) return cached;
    const location = this.#index.locationOf(number);
    if (location === null) return null;
    const payload = this.#readJournal(location);
    const record = decodeRecord(payload);
    if (record.kind !== 'transaction') throw new Error(`journal position ${location} holds no transaction`);
    const landed: LandedTransaction = {
      number,
      slot: record.slot,
      unixMs: record.unixMs,
      signature: readAddresses(record.wire).signature,
      wire: record.wire,
      changes: record.changes,
      outcome: record.outcome(),
    };
    if (payload.length <= CACHEABLE_BYTES) this.#remember(landed);
    return landed;
  }

  /** The transactions that mention an address, newest first. Empty when the chain does not know `before`. */
  mentioning(address: Uint8Array, page: HistoryPage): LandedTransaction[] {
    const before = page.before === undefined ? Infinity : this.find(page.before)?.number;
    const until = page.until === undefined ? -1 : (this.find(page.until)?.number ?? -1);
    if (before === undefined) return [];
    const found: LandedTransaction[] = [];
    for (const number of this.#index.withAddress(address)) {
      if (number <= until || found.length >= page.limit) break;
      if (number >= before) continue;
      const landed = this.get(number);
      if (landed !== null && landed.slot <= page.maxSlot && mentions(landed, address)) found.push(landed);
    }
    return found;
  }

  /** The transactions of a slot, oldest first. */
  inSlot(slot: number): LandedTransaction[] {
    // Numbers follow slots: a transaction that a fork executed again has a new number.
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const landed = this.#nextFrom(middle, high);
      if (landed === null || landed.slot >= slot) high = middle;
      else low = landed.number + 1;
    }
    const found: LandedTransaction[] = [];
    for (let landed = this.#nextFrom(low, this.count); landed?.slot === slot;) {
      found.push(landed);
      landed = this.#nextFrom(landed.number + 1, this.count);
    }
    return found;
  }

  dump(): HistoryDump {
    return this.#index.dump();
  }

  load(dump: HistoryDump): void {
    this.#index.load(dump);
  }

  /** The first transaction from a number on, below `end`, that no fork dropped. */
  #nextFrom(number: number, end: number): LandedTransaction | null {
    for (let at = number; at < end; at += 1) {
      const landed = this.get(at);
      if (landed !== null) return landed;
    }
    return null;
  }

  #remember(landed: LandedTransaction): void {
    this.#cache.set(landed.number, landed);
    if (this.#cache.size <= CACHED_TRANSACTIONS) return;
    for (const oldest of this.#cache.keys()) {
      this.#cache.delete(oldest);
      break;
    }
  }
}

/** Every address of a landed transaction, in the order in which instructions count them. */
export function addressesOf(landed: LandedTransaction): Uint8Array[] {
  const { writable, readonly } = landed.outcome.loadedAddresses;
  return [...readAddresses(landed.wire).staticAddresses, ...writable, ...readonly];
}

function mentions(landed: LandedTransaction, address: Uint8Array): boolean {
  return addressesOf(landed).some((candidate) => Buffer.compare(candidate, address) === 0);
}
