import {
  Connection,
  type MessageV0,
  type PublicKey,
  type TransactionError,
  VersionedTransaction,
  type SignatureStatus,
} from '@solana/web3.js';
import { ApiError } from '../http/api-error.js';
import { createAccountReader, type AccountsAtSlot } from './account-reader.js';
import { createConfirmations } from './confirmations.js';
import { accountsOfCalls } from './program-calls.js';
import { createRpc, fetchFrom } from './rpc.js';

/** A blockhash lives about a minute; a cached one this old still leaves time to land. */
const BLOCKHASH_CACHE_MS = 5_000;
const POLL_MS = 150;

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

/** The chain, as the server uses it. Every method throws ApiError `service_unavailable` when it is out of reach. */
export interface Chain {
  readonly programId: PublicKey;
  getAccounts(addresses: PublicKey[], commitment?: 'confirmed' | 'finalized'): Promise<AccountsAtSlot>;
  /** A recent blockhash; `fresh` skips the cache. */
  latestBlockhash(fresh?: boolean): Promise<{ blockhash: string; lastValidBlockHeight: number }>;
  /** Runs a transaction without signatures or effect, on a recent blockhash in place of the message's own. */
  simulate(message: MessageV0): Promise<Simulation>;
  /** Simulates signed bytes, signatures checked; null when they would succeed. */
  preflight(wire: Uint8Array): Promise<{ error: TransactionError; logs: string[] } | null>;
  /** Hands bytes to the network; says nothing about whether they land. */
  send(wire: Uint8Array): Promise<void>;
  statuses(signatures: string[], searchHistory?: boolean): Promise<(SignatureStatus | null)[]>;
  blockHeight(commitment: 'confirmed' | 'finalized'): Promise<bigint>;
  minimumBalance(bytes: number): Promise<bigint>;
  /** Waits until a transaction is confirmed or has failed; null when its blockhash expired or time ran out. */
  waitForConfirmation(
    signature: string,
    lastValidBlockHeight: number,
    signal: AbortSignal,
  ): Promise<SignatureStatus | null>;
  /** Logs of a landed transaction. */
  logsOf(signature: string): Promise<string[]>;
  /** What the cluster says was paid lately, in micro-lamports for a compute unit, to write to all of these accounts. */
  recentPriorityFees(writable: readonly PublicKey[]): Promise<number[]>;
  /** The newest slot that no fork can take back. */
  finalizedSlot(): Promise<bigint>;
  /** The program's transactions after `until`, newest first, at most 1000 older than `before`. */
  signaturesAfter(until: string | undefined, before: string | undefined): Promise<ProgramSignature[]>;
  /** Accounts that a transaction's calls of the program may have changed; null while it cannot be found. */
  changedAccounts(signature: string): Promise<PublicKey[] | null>;
}

/** Connects to an RPC endpoint. */
export function createChain(rpcUrl: string, programId: PublicKey): Chain {
  const connection = new Connection(rpcUrl, {
    commitment: 'confirmed',
    disableRetryOnRateLimit: true,
    fetch: fetchFrom(rpcUrl),
  });
  const rpc = createRpc(rpcUrl);
  let cached: { at: number; value: Promise<{ blockhash: string; lastValidBlockHeight: number }> } | undefined;

  const latestBlockhash = (fresh = false) => {
    if (fresh || !cached || Date.now() - cached.at > BLOCKHASH_CACHE_MS) {
      const value = reach(() => connection.getLatestBlockhash('confirmed'));
      cached = { at: Date.now(), value };
      value.catch(() => (cached = undefined));
    }
    return cached.value;
  };
  const statuses = (signatures: string[], searchHistory = false) =>
    reach(() => rpc.getSignatureStatuses(signatures, searchHistory));

  const readAccounts = async (addresses: PublicKey[], commitment: 'confirmed' | 'finalized') => {
    const { slot, accounts } = await reach(() => rpc.getMultipleAccounts(addresses, commitment));
    return { slot: BigInt(slot), accounts };
  };
  const waitForConfirmation = createConfirmations(
    { statuses, blockHeight: () => reach(() => connection.getBlockHeight('confirmed')) },
    POLL_MS,
  );
  const readTogether = createAccountReader((addresses) => readAccounts(addresses, 'confirmed'));

  return {
    programId,
    latestBlockhash,
    statuses,
    getAccounts: (addresses, commitment = 'confirmed') =>
      commitment === 'confirmed' ? readTogether(addresses) : readAccounts(addresses, commitment),
    async simulate(message) {
      const wire = new VersionedTransaction(message).serialize();
      const { err, logs } = await reach(() => rpc.simulateTransaction(wire));
      return { error: err, logs: logs ?? [] };
    },
    async preflight(wire) {
      const transaction = VersionedTransaction.deserialize(wire);
      const { value } = await reach(() => connection.simulateTransaction(transaction, { sigVerify: true }));
      return value.err ? { error: value.err, logs: value.logs ?? [] } : null;
    },
    async send(wire) {
      await reach(() => connection.sendRawTransaction(wire, { skipPreflight: true, maxRetries: 0 }));
    },
    async recentPriorityFees(writable) {
      const lockedWritableAccounts = [...writable];
      const fees = await reach(() => connection.getRecentPrioritizationFees({ lockedWritableAccounts }));
      return fees.map(({ prioritizationFee }) => prioritizationFee);
    },
    async finalizedSlot() {
      return BigInt(await reach(() => connection.getSlot('finalized')));
    },
    async blockHeight(commitment) {
      return BigInt(await reach(() => connection.getBlockHeight(commitment)));
    },
    async minimumBalance(bytes) {
      return BigInt(await reach(() => connection.getMinimumBalanceForRentExemption(bytes)));
    },
    waitForConfirmation,
    async logsOf(signature) {
      const transaction = await reach(() =>
        connection.getTransaction(signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 }),
      );
      return transaction?.meta?.logMessages ?? [];
    },
    async signaturesAfter(until, before) {
      const found = await reach(() =>
        connection.getSignaturesForAddress(
          programId,
          { ...(until ? { until } : {}), ...(before ? { before } : {}), limit: 1000 },
          'confirmed',
        ),
      );
      return found.map(({ signature, slot, err }) => ({
        signature,
        slot: BigInt(slot),
        failed: err !== null,
      }));
    },
    async changedAccounts(signature) {
      const transaction = await reach(() =>
        connection.getTransaction(signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 }),
      );
      return transaction && accountsOfCalls(transaction, programId);
    },
  };
}

/** Runs a call to the RPC. Every failure becomes an error that tells our caller to retry. */
async function reach<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    throw new ApiError('service_unavailable', 'The chain cannot be reached at the moment. Try again.', {
      cause,
      retryAfterSeconds: 2,
    });
  }
}
