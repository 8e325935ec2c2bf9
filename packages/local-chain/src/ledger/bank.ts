import {
  Account,
  Clock,
  EpochSchedule,
  FailedTransactionMetadata,
  LiteSvm,
  type SimulatedTransactionInfo,
  type TransactionMetadata,
} from 'litesvm/dist/internal.js';
import { ABSENT_ACCOUNT, RENT_EXEMPT_EPOCH } from './account-state.js';
import type { AccountState, AddressedAccount } from './account-state.js';
import { transactionErrorOf } from './transactions/transaction-error.js';
import type { ExecutionResult } from './transactions/transaction-outcome.js';
import type { WireTransaction } from './transactions/wire-transaction.js';

/** How many slots make an epoch, as on mainnet. There is no warm-up. */
export const SLOTS_PER_EPOCH = 432_000;

/** The state that programs see as sysvars. */
interface BankMoment {
  slot: number;
  unixMs: number;
  epochStartUnixMs: number;
  /** Earlier slots, newest first. */
  slotHashes: { slot: bigint; hash: string }[];
}

/**
 * The Solana runtime: accounts and execution, nothing else. Blockhashes, repeated signatures, history and time are the
 * ledger's.
 *
 * Uses LiteSVM's native class directly: it takes the wire bytes unchanged. The public wrapper would decode
 * and encode them with another library.
 */
export class Bank {
  readonly #svm = new LiteSvm();

  constructor() {
    this.#svm.setBlockhashCheck(false);
    this.#svm.setTransactionHistory(0n);
    this.#svm.setEpochSchedule(
      new EpochSchedule(BigInt(SLOTS_PER_EPOCH), BigInt(SLOTS_PER_EPOCH), false, 0n, 0n),
    );
  }

  setMoment({ slot, unixMs, epochStartUnixMs, slotHashes }: BankMoment): void {
    const epoch = BigInt(Math.floor(slot / SLOTS_PER_EPOCH));
    const seconds = (ms: number): bigint => BigInt(Math.floor(ms / 1000));
    this.#svm.setClock(
      new Clock(BigInt(slot), seconds(epochStartUnixMs), epoch, epoch + 1n, seconds(unixMs)),
    );
    this.#svm.setSlotHashes(slotHashes);
  }

  account(address: Uint8Array): AccountState | null {
    const account = this.#svm.getAccount(address);
    return account === null ? null : stateOf(account);
  }

  /** In lamports; 0 where there is no account. */
  balance(address: Uint8Array): bigint {
    return this.#svm.getBalance(address) ?? 0n;
  }

  /** Overwrites an account, past all rules. Throws when an executable account is not a loadable program. */
  setAccount({ address, account }: AddressedAccount): void {
    const { lamports, data, owner, executable } = account ?? ABSENT_ACCOUNT;
    this.#svm.setAccount(address, new Account(lamports, data, owner, executable, RENT_EXEMPT_EPOCH));
  }

  /** All accounts that a program owns. About 7 microseconds each. */
  programAccounts(owner: Uint8Array): { address: Uint8Array; account: AccountState }[] {
    return this.#svm
      .getProgramAccounts(owner)
      .map((entry) => ({ address: entry.address, account: stateOf(entry.account()) }));
  }

  /** Lamports that exempt an account with this many bytes of data from rent. */
  minimumBalance(dataBytes: number): bigint {
    return this.#svm.minimumBalanceForRentExemption(BigInt(dataBytes));
  }

  execute(transaction: WireTransaction, verifySignatures: boolean): ExecutionResult {
    this.#svm.setSigverify(verifySignatures);
    return resultOf(this.#svm.sendVersionedTransaction(transaction.bytes));
  }

  /** Whether the signatures belong to the transaction's signers. */
  verifies(transaction: WireTransaction): boolean {
    return this.simulate(transaction, true).result.err !== 'SignatureFailure';
  }

  /** Executes a transaction and discards its changes. `postAccounts` is empty when it failed. */
  simulate(
    transaction: WireTransaction,
    verifySignatures: boolean,
  ): { result: ExecutionResult; postAccounts: AddressedAccount[] } {
    this.#svm.setSigverify(verifySignatures);
    const simulated = this.#svm.simulateVersionedTransaction(transaction.bytes);
    if (simulated instanceof FailedTransactionMetadata)
      return { result: resultOf(simulated), postAccounts: [] };
    return { result: succeeded(simulated.meta()), postAccounts: postAccountsOf(simulated) };
  }
}

function stateOf(account: Account): AccountState {
  return {
    lamports: account.lamports(),
    owner: account.owner(),
    executable: account.executable(),
    data: account.data(),
  };
}

function postAccountsOf(simulated: SimulatedTransactionInfo): AddressedAccount[] {
  return simulated.postAccounts().map((entry) => {
    const account = stateOf(entry.account());
    return { address: entry.address, account: account.lamports === 0n ? null : account };
  });
}

function resultOf(metadata: TransactionMetadata | FailedTransactionMetadata): ExecutionResult {
  return metadata instanceof FailedTransactionMetadata
    ? { ...succeeded(metadata.meta()), err: transactionErrorOf(metadata) }
    : succeeded(metadata);
}

function succeeded(metadata: TransactionMetadata): ExecutionResult {
  const returned = metadata.returnData();
  const data = returned.data();
  const innerInstructions = metadata
    .innerInstructions()
    .map((group, index) => ({
      index,
      instructions: group.map((inner) => {
        const instruction = inner.instruction();
        return {
          programIdIndex: instruction.programIdIndex(),
          accounts: [...instruction.accounts()],
          data: instruction.data(),
          stackHeight: inner.stackHeight(),
        };
      }),
    }))
    .filter((group) => group.instructions.length > 0);
  return {
    err: null,
    logs: metadata.logs(),
    innerInstructions,
    unitsConsumed: Number(metadata.computeUnitsConsumed()),
    returnData: data.length === 0 ? null : { programId: returned.programId(), data },
  };
}
