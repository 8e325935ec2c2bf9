import { readAccount, writeAccount, type AddressedAccount } from '../ledger/account-state.js';
import {
  readOutcome,
  writeOutcome,
  type TransactionOutcome,
} from '../ledger/transactions/transaction-outcome.js';
import { ByteReader, ByteWriter } from './byte-codec.js';

/** A transaction that landed: its bytes, the new state of every changed account, and its result. */
export interface TransactionRecord {
  kind: 'transaction';
  slot: number;
  /** Chain time when it was executed. */
  unixMs: number;
  wire: Uint8Array;
  changes: AddressedAccount[];
  /** Decoded on demand: replay needs only the accounts. */
  outcome: () => TransactionOutcome;
}

/** The chain's clock was moved forward by `localchain_warp`. */
interface WarpRecord {
  kind: 'warp';
  unixMs: number;
  /** How far the chain's clock is ahead of the wall clock. */
  offsetMs: number;
}

/** Transactions that `localchain_fork` took back, and the accounts' state before them. */
export interface ForkRecord {
  kind: 'fork';
  slot: number;
  /** Numbers of the transactions in order of execution, the first being 0. */
  dropped: number[];
  restored: AddressedAccount[];
}

type JournalRecord = TransactionRecord | WarpRecord | ForkRecord;

const TRANSACTION = 1;
const WARP = 2;
const FORK = 3;

export function encodeTransactionRecord(
  record: Omit<TransactionRecord, 'kind' | 'outcome'>,
  outcome: TransactionOutcome,
): Buffer {
  const writer = new ByteWriter();
  writer.u8(TRANSACTION).f64(record.slot).f64(record.unixMs).blob(record.wire);
  writeAccounts(writer, record.changes);
  writeOutcome(writer, outcome);
  return writer.finish();
}

export function encodeWarpRecord(record: Omit<WarpRecord, 'kind'>): Buffer {
  return new ByteWriter().u8(WARP).f64(record.unixMs).f64(record.offsetMs).finish();
}

export function encodeForkRecord(record: Omit<ForkRecord, 'kind'>): Buffer {
  const writer = new ByteWriter().u8(FORK).f64(record.slot).u32(record.dropped.length);
  for (const number of record.dropped) writer.u32(number);
  writeAccounts(writer, record.restored);
  return writer.finish();
}

/** Decodes a record. Its byte fields are views into `payload`. */
export function decodeRecord(payload: Buffer): JournalRecord {
  const reader = new ByteReader(payload);
  const kind = reader.u8();
  switch (kind) {
    case TRANSACTION: {
      const slot = reader.f64();
      const unixMs = reader.f64();
      const wire = reader.blob();
      const changes = readAccounts(reader);
      return { kind: 'transaction', slot, unixMs, wire, changes, outcome: () => readOutcome(reader) };
    }
    case WARP:
      return { kind: 'warp', unixMs: reader.f64(), offsetMs: reader.f64() };
    case FORK: {
      const slot = reader.f64();
      const dropped = Array.from({ length: reader.u32() }, () => reader.u32());
      return { kind: 'fork', slot, dropped, restored: readAccounts(reader) };
    }
    default:
      throw new Error(`journal record of unknown kind ${kind}: was it written by a newer version?`);
  }
}

function writeAccounts(writer: ByteWriter, accounts: AddressedAccount[]): void {
  writer.u32(accounts.length);
  for (const account of accounts) writeAccount(writer, account);
}

function readAccounts(reader: ByteReader): AddressedAccount[] {
  return Array.from({ length: reader.u32() }, () => readAccount(reader));
}
