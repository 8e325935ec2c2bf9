import { FRAMEWORK_ERRORS, PROGRAM_ERRORS } from '@agent-rental/program-client';
import { LiteSVM, type TransactionMetadata, Account, Clock, Rent as RentSysvar } from 'litesvm';
import type { Meta } from '../model/instruction-table.js';
import { ofCharge, type Verdict } from '../model/errors.js';
import type { Rent } from '../model/ledger.js';
import type { Gift } from './operations.js';
import type { AddressId, Universe } from './universe.js';
import { encodeTransaction } from './wire.js';

/** The fee payer's lamports per signature, also for a failed transaction. */
const LAMPORTS_PER_SIGNATURE = 5_000n;

/** The chain's result of an instruction. */
export interface ChainOutcome {
  verdict: Verdict;
  /** The returned bytes; empty after a failure. */
  returned: Uint8Array;
  /** The events, logged as `Program data:`. */
  events: Uint8Array[];
  feeLamports: bigint;
}

/** An account on the chain. */
export interface ChainAccount {
  lamports: bigint;
  owner: Uint8Array;
  data: Uint8Array;
}

/** LiteSVM's calls with wire bytes. Its typed methods cost more time than the transaction. */
interface WireCalls {
  sendLegacyTransaction(bytes: Uint8Array): TransactionMetadata | { err(): unknown };
  setAccount(address: Uint8Array, account: Account): void;
  addProgram(programId: Uint8Array, so: Uint8Array): void;
  setClock(clock: Clock): void;
  setRent(rent: RentSysvar): void;
  getAccount(address: Uint8Array): { lamports(): bigint; data(): Uint8Array; owner(): Uint8Array } | null;
}

/** The runtime's `InstructionError`s without fields that sequences provoke, by number. */
const INSTRUCTION_ERRORS: Record<number, string> = {
  1: 'runtime InvalidArgument',
  12: 'runtime ExternalAccountLamportSpend',
  45: 'runtime ArithmeticOverflow',
  46: 'runtime UnsupportedSysvar',
};

const DATA_LINE = 'Program data: ';

/** The program on an embedded runtime in this process, without signature checks and without a history. */
export class Chain {
  readonly universe: Universe;
  readonly #wire: WireCalls;
  #nonce = 0;

  constructor(universe: Universe, so: Uint8Array) {
    this.universe = universe;
    const svm = new LiteSVM().withSigverify(false).withBlockhashCheck(false).withTransactionHistory(0n);
    this.#wire = (svm as unknown as { inner: WireCalls }).inner;
    this.#wire.addProgram(universe.key(universe.program), so);
  }

  /** Sets the cluster's clock, Unix seconds. */
  setClock(unixSeconds: bigint): void {
    this.#wire.setClock(new Clock(1n, 0n, 0n, 0n, unixSeconds));
  }

  /** Sets the rent. */
  setRent(rent: Rent): void {
    this.#wire.setRent(new RentSysvar(rent.lamportsPerByte, rent.threshold, 0));
  }

  /** Overwrites an account; 0 lamports remove it. */
  setAccount(id: AddressId, lamports: bigint, owner: AddressId, data: Uint8Array): void {
    const account = new Account(lamports, data, this.universe.key(owner), false, 0n);
    this.#wire.setAccount(this.universe.key(id), account);
  }

  /** The account at an address, or null. */
  account(id: AddressId): ChainAccount | null {
    const found = this.#wire.getAccount(this.universe.key(id));
    return found === null ? null : { lamports: found.lamports(), owner: found.owner(), data: found.data() };
  }

  /** Runs one instruction in one transaction, followed by the gift. */
  send(data: Uint8Array, metas: readonly Meta[], gift?: Gift): ChainOutcome {
    this.#nonce = (this.#nonce + 1) >>> 0;
    const { bytes, signatures } = encodeTransaction(this.universe, data, metas, this.#nonce, gift);
    const result = this.#wire.sendLegacyTransaction(bytes);
    const feeLamports = BigInt(signatures) * LAMPORTS_PER_SIGNATURE;
    if ('err' in result) {
      return { verdict: verdictOf(result.err()), returned: new Uint8Array(), events: [], feeLamports };
    }
    const lines = result.logs().filter((line) => line.startsWith(DATA_LINE));
    const events = lines.map((line) => Buffer.from(line.slice(DATA_LINE.length), 'base64'));
    return { verdict: null, returned: result.returnData().data(), events, feeLamports };
  }
}

/** The name of a custom error. Its lower 16 bits are the code, and its upper bits the place of the refused charge. */
function nameOf(error: number): string {
  const code = error & 0xffff;
  const name = (PROGRAM_ERRORS.get(code) ?? FRAMEWORK_ERRORS.get(code))?.name ?? `system error ${code}`;
  return ofCharge(name, error >>> 16);
}

function verdictOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) {
    return `transaction error ${String(error)}`;
  }
  if ('err' in error && typeof error.err === 'function') {
    const detail: unknown = error.err();
    return typeof detail === 'object' && detail !== null && 'code' in detail
      ? nameOf(Number(detail.code))
      : (INSTRUCTION_ERRORS[Number(detail)] ?? `runtime instruction error ${String(detail)}`);
  }
  const name = error.constructor.name.replace('TransactionError', '');
  return `runtime ${name}`;
}
