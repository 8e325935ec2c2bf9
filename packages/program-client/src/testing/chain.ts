import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { PublicKey, SystemProgram, Transaction, type TransactionInstruction } from '@solana/web3.js';
import { LiteSVM } from 'litesvm';
import { marketplaceSoPath } from '../artifact.js';
import { findProgramDataAddress, UPGRADEABLE_LOADER_ID } from '../accounts/addresses.js';
import { decodeProgramError, type ProgramError } from '../decoding/errors.js';
import { decodeEvents, type MarketplaceEvent } from '../decoding/events.js';
import { MARKETPLACE_PROGRAM_ID } from '../program-id.js';

/** An account as tests read and write it. */
export interface AccountState {
  lamports: bigint;
  data: Uint8Array;
  owner: PublicKey;
}

/** The outcome of a transaction. */
export interface Outcome {
  /** Null on success, else the custom code, or the runtime's word for another failure. */
  error: number | string | null;
  /** The program's error behind `error`, when it is one. */
  programError: ProgramError | null;
  logs: string[];
  events: MarketplaceEvent[];
  units: bigint;
  returnData: Uint8Array;
}

interface Metadata {
  logs(): string[];
  computeUnitsConsumed(): bigint;
  returnData(): { data(): Uint8Array };
}

interface Failure {
  err(): unknown;
  meta(): Metadata;
}

/** LiteSVM's native calls on wire bytes, behind its methods with kit's types. */
interface WireCalls {
  sendLegacyTransaction(bytes: Uint8Array): Metadata | Failure;
  simulateLegacyTransaction(bytes: Uint8Array): { meta(): Metadata } | Failure;
  getAccount(
    address: Uint8Array,
  ): { lamports(): bigint; data(): Uint8Array; owner(): Uint8Array; executable(): boolean } | null;
}

function isFailure(result: object): result is Failure {
  return 'err' in result;
}

function errorOf(failure: Failure): number | string {
  const error = failure.err();
  if (typeof error === 'object' && error !== null && 'err' in error && typeof error.err === 'function') {
    const detail: unknown = error.err();
    if (
      typeof detail === 'object' &&
      detail !== null &&
      'code' in detail &&
      typeof detail.code === 'number'
    ) {
      return detail.code;
    }
    return String(detail);
  }
  return String(error);
}

const SOL = 1_000_000_000n;

/** An address that is the same in every run. These tests check no signatures, so its key is not needed. */
export function fixedAddress(name: string): PublicKey {
  return new PublicKey(createHash('sha256').update(name).digest());
}

/** The committed program on an embedded runtime: synchronous, with no signature checks and a fixed clock. */
export class TestChain {
  readonly programId: PublicKey;
  readonly upgradeAuthority: PublicKey = fixedAddress('upgrade authority');
  readonly #svm: LiteSVM;
  readonly #wire: WireCalls;
  readonly #feePayer: PublicKey = fixedAddress('fee payer');
  #nonce = 0;
  #wallets = 0;

  constructor(
    programId: PublicKey = MARKETPLACE_PROGRAM_ID,
    so: Uint8Array = readFileSync(marketplaceSoPath()),
  ) {
    this.programId = programId;
    this.#svm = new LiteSVM()
      .withSigverify(false)
      .withBlockhashCheck(false)
      .withTransactionHistory(0n)
      .withLogBytesLimit();
    this.#svm.addProgram(programId.toBase58() as never, so);
    this.#wire = (this.#svm as unknown as { inner: WireCalls }).inner;
    this.fund(this.#feePayer, 1_000_000n * SOL);
    this.setUpgradeAuthority(this.upgradeAuthority);
    this.setTime(1_750_000_000n);
  }

  /** Writes the loader's account with the upgrade authority, which may initialise; null: the program cannot be upgraded. */
  setUpgradeAuthority(authority: PublicKey | null, changes: Partial<AccountState> = {}): void {
    const data = new Uint8Array(45);
    data[0] = 3;
    if (authority !== null) {
      data[12] = 1;
      data.set(authority.toBytes(), 13);
    }
    const state = { lamports: SOL, data, owner: UPGRADEABLE_LOADER_ID, ...changes };
    this.setAccount(findProgramDataAddress(this.programId).address, state);
  }

  /** Sets the cluster's clock, Unix seconds. */
  setTime(unixSeconds: bigint): void {
    const clock = this.#svm.getClock();
    clock.unixTimestamp = unixSeconds;
    this.#svm.setClock(clock);
  }

  /** The cluster's clock, Unix seconds. */
  now(): bigint {
    return this.#svm.getClock().unixTimestamp;
  }

  /** Changes the rent-exempt minimum of accounts, from now on. */
  setRent(change: (rent: ReturnType<LiteSVM['getRent']>) => void): void {
    const rent = this.#svm.getRent();
    change(rent);
    this.#svm.setRent(rent);
  }

  /** The rent-exempt minimum of an account of `size` bytes, in lamports. */
  rent(size: number): bigint {
    return this.#svm.minimumBalanceForRentExemption(BigInt(size));
  }

  /** A new wallet with lamports; every run makes the same wallets. */
  wallet(lamports = 1_000n * SOL): PublicKey {
    this.#wallets += 1;
    const address = fixedAddress(`wallet ${this.#wallets}`);
    this.fund(address, lamports);
    return address;
  }

  /** Adds lamports to an address out of nothing. */
  fund(address: PublicKey, lamports: bigint): void {
    const state = this.account(address) ?? {
      lamports: 0n,
      data: new Uint8Array(),
      owner: SystemProgram.programId,
    };
    this.setAccount(address, { ...state, lamports: state.lamports + lamports });
  }

  /** Overwrites an account. */
  setAccount(address: PublicKey, state: AccountState): void {
    this.#svm.setAccount({
      address: address.toBase58() as never,
      lamports: state.lamports as never,
      data: state.data,
      programAddress: state.owner.toBase58() as never,
      executable: false,
      space: BigInt(state.data.length),
    });
  }

  /** An account, or null where there is none. */
  account(address: PublicKey): AccountState | null {
    const found = this.#wire.getAccount(address.toBytes());
    return found === null
      ? null
      : { lamports: found.lamports(), data: found.data(), owner: new PublicKey(found.owner()) };
  }

  /** An account's data; fails the test where there is none. */
  data(address: PublicKey): Uint8Array {
    const state = this.account(address);
    if (state === null || state.data.length === 0) {
      throw new Error(`No account at ${address.toBase58()}`);
    }
    return state.data;
  }

  /** An address's lamports; 0 where there is no account. */
  lamports(address: PublicKey): bigint {
    return this.account(address)?.lamports ?? 0n;
  }

  #wireBytes(instructions: TransactionInstruction[]): Uint8Array {
    const transaction = new Transaction().add(...instructions);
    transaction.feePayer = this.#feePayer;
    this.#nonce += 1;
    const blockhash = new Uint8Array(32);
    new DataView(blockhash.buffer).setUint32(0, this.#nonce);
    transaction.recentBlockhash = new PublicKey(blockhash).toBase58();
    return transaction.serialize({ requireAllSignatures: false, verifySignatures: false });
  }

  #outcome(error: number | string | null, meta: Metadata): Outcome {
    const logs = meta.logs();
    return {
      error,
      programError: typeof error === 'number' ? decodeProgramError({ err: error, logs }) : null,
      logs,
      events: decodeEvents(logs, this.programId),
      units: meta.computeUnitsConsumed(),
      returnData: meta.returnData().data(),
    };
  }

  /** Runs instructions in one transaction. A separate wallet pays its fee. */
  send(...instructions: TransactionInstruction[]): Outcome {
    const result = this.#wire.sendLegacyTransaction(this.#wireBytes(instructions));
    return isFailure(result) ? this.#outcome(errorOf(result), result.meta()) : this.#outcome(null, result);
  }

  /** As {@link send}, and fails the test unless it succeeds. */
  succeed(...instructions: TransactionInstruction[]): Outcome {
    const outcome = this.send(...instructions);
    if (outcome.error !== null) {
      throw new Error(`Refused with ${outcome.error}:\n${outcome.logs.join('\n')}`);
    }
    return outcome;
  }

  /** Runs instructions and discards their changes. */
  simulate(...instructions: TransactionInstruction[]): Outcome {
    const result = this.#wire.simulateLegacyTransaction(this.#wireBytes(instructions));
    const error = isFailure(result) ? errorOf(result) : null;
    return this.#outcome(error, result.meta());
  }
}
