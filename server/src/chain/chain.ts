import {
  type MessageV0,
  type PublicKey,
  type TransactionError,
  VersionedTransaction,
  type SignatureStatus,
  type VersionedTransactionResponse,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { ApiError } from '../errors/api-error.js';
import type { Logger } from '../platform/logger.js';
import { createAccountReader, type AccountsAtSlot } from './account-reader.js';
import { blockhashAfter, type RecentBlockhash } from './blockhash-after.js';
import { createConfirmations } from './confirmations.js';
import { accountsOfCalls } from './program-calls.js';
import { createCrossCheckedSource } from './endpoints/cross-checked.js';
import { createOnlySource } from './endpoints/only-endpoint.js';
import type { ChainSource, ReadCommitment } from './endpoints/source.js';

/** A blockhash lives 30 seconds or longer; a cached one this old still leaves time to land. */
const BLOCKHASH_CACHE_MS = 5_000;
const POLL_MS = 150;

/** 150 slots, in seconds: of 200 ms with fast finality, of 400 ms before. */
const BLOCKHASH_LIFE_SECONDS = { finalized: 30, confirmed: 60 } as const;

/** A blockhash, and how long the network accepts it. */
interface LivingBlockhash extends RecentBlockhash {
  lifeSeconds: number;
}

/** How a simulation ended. */
interface Simulation {
  error: TransactionError | null;
  logs: string[];
}

/** A landed transaction that mentions the program. */
export interface ProgramSignature {
  signature: string;
  slot: bigint;
  failed: boolean;
}

/** A finalized transaction that mentions an address, with the text of its memos as the RPC lists it. */
interface ListedMemo {
  signature: string;
  memo: string | null;
  failed: boolean;
}

/** A transaction that mentions a wallet. */
interface WalletSignature {
  signature: string;
  failed: boolean;
  /** When its block was made; null where the endpoint does not know it. */
  unixTime: number | null;
}

/** The chain, as the server uses it. Every method throws ApiError `service_unavailable` when it is out of reach. */
export interface Chain {
  readonly programId: PublicKey;
  getAccounts(addresses: PublicKey[], commitment?: ReadCommitment): Promise<AccountsAtSlot>;
  /**
   * Current accounts, where there are several endpoints as two of them have them, for decisions on access.
   *
   * @param atLeast the slot that both must have reached
   */
  getAccountsOfTwo(addresses: PublicKey[], atLeast?: bigint): Promise<AccountsAtSlot>;
  /** A recent blockhash; `fresh` skips the cache. */
  latestBlockhash(fresh?: boolean): Promise<LivingBlockhash>;
  /**
   * Waits for a blockhash over which nothing lands on a fork without this transaction.
   *
   * @returns undefined where the transaction failed, the signal aborted first, or there are several endpoints
   */
  blockhashAfter(signature: string, signal: AbortSignal): Promise<RecentBlockhash | undefined>;
  /** Runs a transaction without signatures or effect, on a recent blockhash in place of the message's own. */
  simulate(message: MessageV0): Promise<Simulation>;
  /** Simulates signed bytes, signatures checked; null when they would succeed. */
  preflight(signedBytes: Uint8Array): Promise<{ error: TransactionError; logs: string[] } | null>;
  /** Hands bytes to the network; says nothing about whether they land. */
  send(signedBytes: Uint8Array): Promise<void>;
  /**
   * The statuses of transactions. With several endpoints, two of them have to agree; `processed` where they
   * do not agree, and null where none knows the transaction.
   */
  statuses(signatures: string[], searchHistory?: boolean): Promise<(SignatureStatus | null)[]>;
  /** The height of the chain; at `finalized`, of several endpoints the one that two have passed, and 0 while only one answers. */
  blockHeight(commitment: ReadCommitment): Promise<bigint>;
  minimumBalance(bytes: number): Promise<bigint>;
  /** Waits until a transaction is confirmed or has failed; null when its blockhash expired or time ran out. */
  waitForConfirmation(
    signature: string,
    lastValidBlockHeight: number,
    signal: AbortSignal,
  ): Promise<SignatureStatus | null>;
  /** Logs of a landed transaction. */
  logsOf(signature: string): Promise<string[]>;
  /** Recent priority fees for writing to all of these accounts, in micro-lamports for a compute unit. */
  recentPriorityFees(writable: readonly PublicKey[]): Promise<number[]>;
  /** The newest slot that no fork can take back. */
  finalizedSlot(): Promise<bigint>;
  /** The program's transactions after `until`, newest first, at most 1000 older than `before`. */
  signaturesAfter(until: string | undefined, before: string | undefined): Promise<ProgramSignature[]>;
  /** Finalized transactions that mention an address, after `until`, newest first, at most 1000. */
  memosAt(address: PublicKey, until: string | undefined): Promise<ListedMemo[]>;
  /**
   * Transactions that mention an address, newest first.
   *
   * @param atLeast the slot that the endpoint must have reached
   */
  signaturesOf(address: PublicKey, page: { most: number; atLeast?: bigint }): Promise<WalletSignature[]>;
  /** A transaction with its effects; null while it cannot be found. */
  landedTransaction(signature: string): Promise<VersionedTransactionResponse | null>;
  /** A finalized transaction as it was signed; null while it cannot be found. */
  transactionOf(signature: string): Promise<VersionedTransaction | null>;
  /** Accounts that a transaction's calls of the program may have changed; null while it cannot be found. */
  changedAccounts(signature: string): Promise<PublicKey[] | null>;
  /** The genesis hash of the cluster. @throws Error when no endpoint answers, or two are of different clusters. */
  requireOneCluster(): Promise<string>;
  /** Numbers of each of several endpoints, and how many transactions they disagreed about. */
  endpointStats(): ReturnType<ChainSource['stats']>;
}

/**
 * Connects to one RPC endpoint, or to several, which then check and replace each other.
 *
 * @param logger is told when one of several is left and when it comes back
 */
export function createChain(
  rpcUrls: string | readonly string[],
  programId: PublicKey,
  logger: Pick<Logger, 'info' | 'warn' | 'error'> = SILENT,
): Chain {
  return createChainOn(openSource(rpcUrls, logger), programId);
}

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** One endpoint, or several that check each other. */
export function openSource(
  rpcUrls: string | readonly string[],
  logger: Pick<Logger, 'info' | 'warn' | 'error'> = SILENT,
): ChainSource {
  const urls = typeof rpcUrls === 'string' ? [rpcUrls] : rpcUrls;
  const [onlyUrl, ...others] = urls;
  if (onlyUrl === undefined) throw new Error('A chain needs the address of an RPC endpoint.');
  return others.length === 0 ? createOnlySource(onlyUrl) : createCrossCheckedSource(urls, logger);
}

/** The chain over its source. */
export function createChainOn(source: ChainSource, programId: PublicKey): Chain {
  let cached: { at: number; value: Promise<LivingBlockhash> } | undefined;

  /** A call at the commitment at which the service decides. */
  const atLevel = <T>(call: (level: 'confirmed' | 'finalized') => Promise<T>): Promise<T> =>
    reach(async () => call(await source.finality.level()));

  const latestBlockhash = (fresh = false) => {
    if (fresh || !cached || Date.now() - cached.at > BLOCKHASH_CACHE_MS) {
      const value = atLevel(async (level) => ({
        ...(await source.first(({ connection }) => connection.getLatestBlockhash(level))),
        lifeSeconds: BLOCKHASH_LIFE_SECONDS[level],
      }));
      cached = { at: Date.now(), value };
      value.catch(() => (cached = undefined));
    }
    return cached.value;
  };
  const statuses = (signatures: string[], searchHistory = false) =>
    reach(() => source.statuses(signatures, searchHistory));

  const currentHeight = () =>
    atLevel((level) => source.first(({ connection }) => connection.getBlockHeight(level)));
  const waitForConfirmation = createConfirmations({ statuses, blockHeight: currentHeight }, POLL_MS);
  /** An endpoint that does not know the transaction yet is asked together with the next one. */
  const findTransaction = (signature: string, commitment: ReadCommitment) =>
    atLevel((level) =>
      source.first(
        ({ connection }) =>
          connection.getTransaction(signature, {
            commitment: commitment === 'current' ? level : commitment,
            maxSupportedTransactionVersion: 0,
          }),
        (transaction) => transaction !== null,
      ),
    );
  const readTogether = createAccountReader((addresses) => reach(() => source.accounts(addresses, 'current')));
  const readOfTwo = createAccountReader((addresses) => reach(() => source.accountsOfTwo(addresses)));

  return {
    programId,
    latestBlockhash,
    blockhashAfter: (signature, signal) => reach(() => blockhashAfter(source, signature, signal)),
    statuses,
    getAccounts: (addresses, commitment = 'current') =>
      commitment === 'current'
        ? readTogether(addresses)
        : reach(() => source.accounts(addresses, commitment)),
    getAccountsOfTwo: (addresses, atLeast) =>
      atLeast === undefined ? readOfTwo(addresses) : reach(() => source.accountsOfTwo(addresses, atLeast)),
    async simulate(message) {
      const bytes = new VersionedTransaction(message).serialize();
      const { err, logs } = await atLevel((level) =>
        // A refusal of one endpoint is asked for again at another.
        source.first(
          ({ rpc }) => rpc.simulateTransaction(bytes, level),
          (simulated) => simulated.err === null,
        ),
      );
      return { error: err, logs: logs ?? [] };
    },
    async preflight(signedBytes) {
      const transaction = VersionedTransaction.deserialize(signedBytes);
      const { value } = await atLevel((level) =>
        source.first(
          ({ connection }) =>
            connection.simulateTransaction(transaction, { sigVerify: true, commitment: level }),
          (simulated) => simulated.value.err === null,
        ),
      );
      return value.err ? { error: value.err, logs: value.logs ?? [] } : null;
    },
    async send(signedBytes) {
      await reach(() => source.send(signedBytes));
    },
    async recentPriorityFees(writable) {
      const lockedWritableAccounts = [...writable];
      const fees = await reach(() =>
        source.first(({ connection }) => connection.getRecentPrioritizationFees({ lockedWritableAccounts })),
      );
      return fees.map(({ prioritizationFee }) => prioritizationFee);
    },
    async finalizedSlot() {
      return BigInt(await reach(() => source.first(({ connection }) => connection.getSlot('finalized'))));
    },
    async blockHeight(commitment) {
      return BigInt(
        commitment === 'current' ? await currentHeight() : await reach(() => source.finalizedHeight()),
      );
    },
    async minimumBalance(bytes) {
      return BigInt(
        await reach(() =>
          source.first(({ connection }) => connection.getMinimumBalanceForRentExemption(bytes)),
        ),
      );
    },
    waitForConfirmation,
    async logsOf(signature) {
      const transaction = await findTransaction(signature, 'current');
      return transaction?.meta?.logMessages ?? [];
    },
    async signaturesAfter(until, before) {
      const found = await atLevel((level) =>
        source.first(({ connection }) =>
          connection.getSignaturesForAddress(
            programId,
            { ...(until ? { until } : {}), ...(before ? { before } : {}), limit: 1000 },
            level,
          ),
        ),
      );
      return found.map(({ signature, slot, err }) => ({
        signature,
        slot: BigInt(slot),
        failed: err !== null,
      }));
    },
    async memosAt(address, until) {
      const found = await reach(() =>
        source.first(({ connection }) =>
          connection.getSignaturesForAddress(
            address,
            { ...(until ? { until } : {}), limit: 1000 },
            'finalized',
          ),
        ),
      );
      return found.map(({ signature, memo, err }) => ({ signature, memo, failed: err !== null }));
    },
    async signaturesOf(address, { most, atLeast }) {
      const found = await atLevel((level) =>
        source.first(({ connection }) =>
          connection.getSignaturesForAddress(
            address,
            { limit: most, ...(atLeast === undefined ? {} : { minContextSlot: Number(atLeast) }) },
            level,
          ),
        ),
      );
      return found.map(({ signature, err, blockTime }) => ({
        signature,
        failed: err !== null,
        unixTime: blockTime ?? null,
      }));
    },
    landedTransaction: (signature) => findTransaction(signature, 'current'),
    async transactionOf(signature) {
      const found = await findTransaction(signature, 'finalized');
      if (!found) return null;
      const { message, signatures } = found.transaction;
      return new VersionedTransaction(
        message,
        signatures.map((one) => bs58.decode(one)),
      );
    },
    async changedAccounts(signature) {
      const transaction = await findTransaction(signature, 'current');
      return transaction && accountsOfCalls(transaction, programId);
    },
    requireOneCluster: () => source.requireOneCluster(),
    endpointStats: () => source.stats(),
  };
}

/** Runs a call to the RPC. Every failure becomes an error that tells our caller to retry. */
export async function reach<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw new ApiError('service_unavailable', 'The chain cannot be reached at the moment.', {
      next: 'Try again.',
      cause,
      retryAfterSeconds: 2,
    });
  }
}
