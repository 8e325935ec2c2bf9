import { join } from 'node:path';
import { ClockFile } from '../storage/clock-file.js';
import { deriveSecret, openGenesis, writeGenesis, type Genesis } from '../storage/genesis.js';
import type { Journal } from '../storage/journal.js';
import { encodeForkRecord, encodeTransactionRecord, encodeWarpRecord } from '../storage/records.js';
import { addressFromKey, addressKey, sameAccount } from './account-state.js';
import type { AccountState, AddressedAccount } from './account-state.js';
import { Bank, SLOTS_PER_EPOCH } from './bank.js';
import { Blockhashes } from './transactions/blockhashes.js';
import { ChainClock, slotAt, type ChainMoment } from './chain-clock.js';
import type { Consensus } from './consensus.js';
import { Faucet } from './faucet.js';
import { feeOf } from './transactions/fees.js';
import { resolveAccounts, type ResolvedAccounts } from './transactions/resolved-accounts.js';
import { loadBank } from './load-bank.js';
import { loadedBytesOf } from './transactions/loaded-bytes.js';
import { restoreState } from './restore.js';
import { Snapshotter } from './snapshotter.js';
import type { TransactionErrorJson } from './transactions/transaction-error.js';
import type { LandedTransaction, TransactionHistory } from './transactions/transaction-history.js';
import type { ExecutionResult, TransactionOutcome } from './transactions/transaction-outcome.js';
import type { UndoLog } from './undo-log.js';
import type { DeployedProgram } from './upgradeable-program.js';
import { parseWireTransaction, type WireTransaction } from './transactions/wire-transaction.js';

export interface LedgerOptions {
  stateDir: string;
  programs: readonly DeployedProgram[];
  consensus: Consensus;
  slotTimeMs: number;
  finalizedSlots: number;
  snapshotIntervalBytes: number;
  onLog: (level: 'info' | 'warn' | 'error', msg: string, details?: Record<string, unknown>) => void;
  /** The disk failed: memory is ahead of it, so the process must end and start again from the disk. */
  onFatal: (error: Error) => void;
  /** The wall clock. Default `Date.now`. */
  wallMs?: () => number;
}

/** Receives the chain's changes. A transaction is reported once it is on the disk. */
export interface LedgerListener {
  committed: (landed: LandedTransaction) => void;
  finalized: (transactionNumbers: readonly number[]) => void;
  /** A fork restored the earlier state of these accounts. */
  restored: (accounts: readonly AddressedAccount[], moment: ChainMoment) => void;
  slotChanged: (moment: ChainMoment) => void;
}

/** Whether a transaction is on the chain now, with its error if it failed there; or why it never will be. */
type Submission =
  | { landed: true; err: TransactionErrorJson | null }
  | { landed: false; err: TransactionErrorJson };

/** A payment of the faucet, by the signature of its transaction. */
export interface FaucetPayment {
  signature: Uint8Array;
  submission: Submission;
}

export interface Simulation {
  accounts: ResolvedAccounts;
  result: ExecutionResult;
  /** Empty when the simulation failed. */
  postAccounts: AddressedAccount[];
  /** The bytes that the runtime loaded and the fee; null when it refused the transaction before running it. */
  cost: SimulatedCost | null;
}

interface SimulatedCost {
  feeLamports: bigint;
  loadedBytes: number;
  preBalances: bigint[];
  postBalances: bigint[];
}

/**
 * The chain: runs transactions on the bank, records them before it publishes them, and answers queries about the past and the present.
 *
 * Every executed transaction is in the journal before the event loop gets a turn. It is on the disk when {@link settled}
 * resolves. Every caller that reports the chain's state to the outside awaits it first.
 */
export class Ledger {
  readonly history: TransactionHistory;
  readonly blockhashes: Blockhashes;
  readonly genesisHash: Buffer;
  readonly identity: Buffer;
  readonly #bank = new Bank();
  readonly #clock: ChainClock;
  readonly #clockFile: ClockFile;
  readonly #faucet: Faucet;
  readonly #journal: Journal;
  readonly #undoLog: UndoLog;
  readonly #snapshotter: Snapshotter;
  /** The accounts that differ from the accounts of a new chain. */
  readonly #changedAccounts: Set<string>;
  /** Transactions that were executed but may not be on the disk yet, oldest first. */
  readonly #unannounced: { number: number; end: number }[] = [];
  #listener: LedgerListener | null = null;
  #slot = -1;
  #clockSavedMs = 0;

  /** Restores the chain of the state folder, or begins a new one there. The caller holds the folder's lock. */
  constructor(options: LedgerOptions) {
    const { stateDir, finalizedSlots, onLog } = options;
    const genesis = openGenesis(stateDir, options.slotTimeMs, (options.wallMs ?? Date.now)());
    this.#faucet = new Faucet(genesis);
    for (const initial of this.#faucet.initialAccounts((dataBytes) => this.#bank.minimumBalance(dataBytes))) {
      this.#bank.setAccount(initial);
    }
    const restored = restoreState({
      snapshotDir: stateDir,
      finalizedSlots,
      initialAccount: (address) => this.#bank.account(address),
      journal: {
        dir: join(stateDir, 'journal'),
        onTornTail: (tail) => onLog('warn', 'cut an incomplete record off the journal', tail),
        onDurable: (end) => this.#announce(end),
        onFailure: options.onFatal,
      },
    });
    this.#journal = restored.journal;
    this.history = restored.history;
    this.#undoLog = restored.undoLog;
    this.#changedAccounts = new Set(
      [...restored.accounts].filter(([, account]) => account !== null).map(([key]) => key),
    );
    this.#clockFile = new ClockFile(stateDir);
    const unixMs = Math.max(restored.unixMs, this.#clockFile.read());
    this.#clock = startClock(options, genesis, unixMs, restored.offsetMs);
    this.blockhashes = new Blockhashes(genesis);
    this.genesisHash = deriveSecret(genesis, 'genesis');
    this.identity = deriveSecret(genesis, 'identity');
    loadBank(this.#bank, options.programs, restored.accounts, (address, error) =>
      onLog('warn', 'a restored program cannot be loaded', { address, error: String(error) }),
    );
    this.#snapshotter = new Snapshotter(
      {
        dir: stateDir,
        intervalBytes: options.snapshotIntervalBytes,
        capture: () => ({
          position: this.#journal.end,
          unixMs: this.#clock.now().unixMs,
          offsetMs: this.#clock.offsetMs,
          accountKeys: this.#changedAccounts,
          unfinalized: this.#undoLog.entries(),
          history: this.history.dump(),
        }),
        accountAt: (address) => this.#bank.account(address),
        settled: () => this.#journal.settled(),
        onError: (error) => onLog('error', 'could not write a snapshot', { error: String(error) }),
      },
      restored.snapshotPosition,
    );
    this.now();
    onLog('info', 'chain restored', { transactions: this.history.count, slot: this.#slot });
  }

  /** Only one listener: the subscriptions. */
  listen(listener: LedgerListener): void {
    this.#listener = listener;
  }

  /** The chain's time, which also moves the bank's sysvars and the finalized slot on. */
  now(): ChainMoment {
    const moment = this.#clock.now();
    if (moment.slot === this.#slot) return moment;
    this.#slot = moment.slot;
    const epochStart = moment.slot - (moment.slot % SLOTS_PER_EPOCH);
    this.#bank.setMoment({
      slot: moment.slot,
      unixMs: this.#clock.startOf(moment.slot),
      epochStartUnixMs: this.#clock.startOf(epochStart),
      slotHashes: this.blockhashes.before(moment.slot),
    });
    if (Math.abs(moment.unixMs - this.#clockSavedMs) >= CLOCK_SAVE_INTERVAL_MS) {
      this.#clockFile.write(moment.unixMs);
      this.#clockSavedMs = moment.unixMs;
    }
    const finalized = this.#undoLog.finalize(moment.rootSlot);
    this.#listener?.slotChanged(moment);
    if (finalized.length > 0) this.#listener?.finalized(finalized);
    return moment;
  }

  get consensus(): Consensus {
    return this.#clock.consensus;
  }

  /** Moves the chain from tower to Alpenglow, as a cluster does while it runs. */
  migrate(): ChainMoment {
    this.#clock.migrate();
    this.#slot = -1;
    return this.now();
  }

  /** Chain time in milliseconds at which a slot began. */
  startOf(slot: number): number {
    return this.#clock.startOf(slot);
  }

  /** Resolves when everything executed so far is on the disk. */
  settled(): Promise<void> {
    return this.#journal.settled();
  }

  /** The state of an address now, or at the finalized slot. */
  account(address: Uint8Array, finalized: boolean): AccountState | null {
    this.now();
    const earlier = finalized ? this.#undoLog.finalizedState(addressKey(address)) : undefined;
    return earlier === undefined ? this.#bank.account(address) : earlier;
  }

  /** The accounts that a program owns now, or owned at the finalized slot. */
  programAccounts(owner: Uint8Array, finalized: boolean): { address: Uint8Array; account: AccountState }[] {
    this.now();
    const current = this.#bank.programAccounts(owner);
    if (!finalized) return current;
    const earlier = new Map(this.#undoLog.finalizedStates());
    const unchanged = current.filter(({ address }) => !earlier.has(addressKey(address)));
    const then = [...earlier].flatMap(([key, account]) =>
      account !== null && Buffer.compare(account.owner, owner) === 0
        ? [{ address: addressFromKey(key), account }]
        : [],
    );
    return [...unchanged, ...then];
  }

  minimumBalance(dataBytes: number): bigint {
    return this.#bank.minimumBalance(dataBytes);
  }

  /** Executes a transaction and discards its changes. */
  simulate(
    transaction: WireTransaction,
    checks: { verifySignatures: boolean; blockhash: boolean },
  ): Simulation {
    const moment = this.now();
    const accounts = resolveAccounts(transaction.message, (address) => this.#bank.account(address));
    const refused = checks.blockhash ? this.#refusal(transaction, moment) : null;
    // Bad signatures are reported before every other error.
    if (refused !== null && (!checks.verifySignatures || this.#bank.verifies(transaction))) {
      return { accounts, result: { ...NOTHING_EXECUTED, err: refused }, postAccounts: [], cost: null };
    }
    const simulated = this.#bank.simulate(transaction, checks.verifySignatures);
    const cost = wasExecuted(simulated.result.err) ? this.#costOf(transaction, accounts, simulated) : null;
    return { accounts, ...simulated, cost };
  }

  /** Executes a transaction and records it, unless it cannot land at all. */
  submit(transaction: WireTransaction, verifySignatures: boolean): Submission {
    const moment = this.now();
    const refused = this.#refusal(transaction, moment);
    if (refused !== null) return { landed: false, err: refused };
    const accounts = resolveAccounts(transaction.message, (address) => this.#bank.account(address));
    const before = accounts.addresses
      .filter((_, index) => accounts.writable[index])
      .map((address) => ({ address, account: this.#bank.account(address) }));
    const preBalances = accounts.addresses.map((address) => this.#bank.balance(address));
    const result = this.#bank.execute(transaction, verifySignatures);
    const changes = before
      .map(({ address, account }) => ({ address, before: account, after: this.#bank.account(address) }))
      .filter((change) => !sameAccount(change.before, change.after));
    // Every landed transaction pays at least its fee.
    if (changes.length === 0) return { landed: false, err: result.err ?? 'SanitizeFailure' };
    this.#record(transaction, moment, changes, {
      ...result,
      feeLamports: feeOf(transaction.message),
      preBalances,
      postBalances: accounts.addresses.map((address) => this.#bank.balance(address)),
      loadedAddresses: accounts.loaded,
    });
    return { landed: true, err: result.err };
  }

  /** Pays lamports from the faucet. */
  airdrop(recipient: Uint8Array, lamports: number): FaucetPayment {
    return this.#submitOwn(this.#faucet.payment(recipient, lamports, this.#newestBlockhash()));
  }

  /** Makes test USDC for a wallet, in its smallest unit. */
  grantUsdc(wallet: Uint8Array, amount: number): FaucetPayment {
    return this.#submitOwn(this.#faucet.usdcGrant(wallet, amount, this.#newestBlockhash()));
  }

  warpTo(unixMs: number): ChainMoment {
    const moment = this.#clock.warpTo(unixMs);
    this.#journal.append(encodeWarpRecord({ unixMs: moment.unixMs, offsetMs: this.#clock.offsetMs }));
    return this.now();
  }

  /**
   * Takes back the selected transactions, as a cluster does when it leaves a minority fork. The others that came after
   * the first of them are executed again, in order. Only transactions that are not finalized can be selected.
   */
  fork(select: (landed: LandedTransaction) => boolean): LandedTransaction[] {
    const moment = this.now();
    const unfinalized = this.#undoLog.numbers.map((number) => this.history.get(number));
    const selected = unfinalized.filter((landed) => landed !== null && select(landed));
    const first = selected[0];
    if (first == null) return [];
    const restored = new Map<string, AddressedAccount>();
    const dropped: LandedTransaction[] = [];
    while ((this.#undoLog.newest ?? -1) >= first.number) {
      const entry = this.#undoLog.pop();
      const landed = entry === undefined ? null : this.history.get(entry.number);
      if (landed !== null) dropped.push(landed);
      for (const account of entry?.before ?? []) restored.set(addressKey(account.address), account);
    }
    const accounts = [...restored.values()];
    this.#journal.append(
      encodeForkRecord({
        slot: moment.slot,
        dropped: dropped.map(({ number }) => number),
        restored: accounts,
      }),
    );
    for (const { address, account } of accounts) {
      this.#noteChange({ address, before: this.#bank.account(address), after: account });
      this.#bank.setAccount({ address, account });
    }
    for (const { number } of dropped) this.history.drop(number);
    this.#listener?.restored(accounts, moment);
    for (const landed of dropped.toReversed()) {
      if (!select(landed)) this.submit(parseWireTransaction(landed.wire), false);
    }
    return dropped.filter(select).toReversed();
  }

  async close(): Promise<void> {
    await this.#snapshotter.idle();
    await this.#journal.close();
    this.#clockFile.write(this.#clock.now().unixMs);
    this.#clockFile.close();
  }

  #newestBlockhash(): string {
    return this.blockhashes.hashOf(this.now().slot);
  }

  #submitOwn(wire: Uint8Array): FaucetPayment {
    const transaction = parseWireTransaction(wire);
    return { signature: transaction.signature, submission: this.submit(transaction, false) };
  }

  /** Why a transaction with any instructions cannot land: its blockhash is unknown or too old, or it has already landed. */
  #refusal(
    { recentBlockhash, signature }: WireTransaction,
    { slot }: ChainMoment,
  ): TransactionErrorJson | null {
    if (this.blockhashes.slotOf(recentBlockhash, slot) === undefined) return 'BlockhashNotFound';
    return this.history.find(signature) === null ? null : 'AlreadyProcessed';
  }

  #costOf(
    { message }: WireTransaction,
    { addresses }: ResolvedAccounts,
    { result, postAccounts }: { result: ExecutionResult; postAccounts: AddressedAccount[] },
  ): SimulatedCost {
    const feeLamports = feeOf(message);
    const preBalances = addresses.map((address) => this.#bank.balance(address));
    const changed = new Map(
      postAccounts.map(({ address, account }) => [addressKey(address), account?.lamports ?? 0n]),
    );
    // A transaction that fails takes its fee and nothing else.
    const postBalances = addresses.map((address, index) => {
      const before = preBalances[index] ?? 0n;
      if (result.err !== null) return index === 0 ? before - feeLamports : before;
      return changed.get(addressKey(address)) ?? before;
    });
    const loadedBytes = loadedBytesOf(message, addresses, (address) => this.#bank.account(address));
    return { feeLamports, loadedBytes, preBalances, postBalances };
  }

  #record(
    { bytes: wire }: WireTransaction,
    { slot, unixMs }: ChainMoment,
    changes: AccountChange[],
    outcome: TransactionOutcome,
  ): void {
    const left = changes.map(({ address, after }) => ({ address, account: after }));
    const position = this.#journal.append(
      encodeTransactionRecord({ slot, unixMs, wire, changes: left }, outcome),
    );
    const { writable, readonly } = outcome.loadedAddresses;
    const number = this.history.add({ wire, loadedAddresses: [...writable, ...readonly] }, position);
    this.#undoLog.push({
      slot,
      number,
      before: changes.map(({ address, before }) => ({ address, account: before })),
    });
    for (const change of changes) this.#noteChange(change);
    this.#unannounced.push({ number, end: this.#journal.end });
    this.#snapshotter.considerAt(this.#journal.end);
  }

  #noteChange({ address, before, after }: AccountChange): void {
    const key = addressKey(address);
    this.#snapshotter.beforeChange(key, before);
    if (after === null) this.#changedAccounts.delete(key);
    else this.#changedAccounts.add(key);
  }

  #announce(durableEnd: number): void {
    const count = this.#unannounced.findIndex(({ end }) => end > durableEnd);
    const ready = this.#unannounced.splice(0, count === -1 ? this.#unannounced.length : count);
    if (this.#listener === null) return;
    for (const { number } of ready) {
      const landed = this.history.get(number);
      if (landed !== null) this.#listener.committed(landed);
    }
  }
}

interface AccountChange {
  address: Uint8Array;
  before: AccountState | null;
  after: AccountState | null;
}

const CLOCK_SAVE_INTERVAL_MS = 1_000;

const NOTHING_EXECUTED: ExecutionResult = {
  err: null,
  logs: [],
  innerInstructions: [],
  unitsConsumed: 0,
  returnData: null,
};

/** Whether an error came of running the transaction: others refuse it before. */
function wasExecuted(err: TransactionErrorJson | null): boolean {
  if (err === null) return true;
  return typeof err !== 'string' && ('InstructionError' in err || 'InsufficientFundsForRent' in err);
}

/** A changed slot time begins where the chain is: slots before keep the numbers that they had. */
function startClock(options: LedgerOptions, genesis: Genesis, unixMs: number, offsetMs: number): ChainClock {
  const { consensus, slotTimeMs, finalizedSlots, wallMs = Date.now } = options;
  let { anchor } = genesis;
  if (anchor.slotTimeMs !== slotTimeMs) {
    const startMs = Math.max(unixMs, anchor.unixMs, wallMs() + offsetMs);
    anchor = { slot: slotAt(anchor, startMs), unixMs: startMs, slotTimeMs };
    writeGenesis(options.stateDir, { seed: genesis.seed, anchor });
  }
  return new ChainClock({ anchor, consensus, finalizedSlots, unixMs, offsetMs, wallMs });
}
