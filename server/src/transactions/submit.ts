import {
  VersionedTransaction,
  type PublicKey,
  type SignatureStatus,
  type VersionedMessage,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { ApiError } from '../errors/api-error.js';
import { createDeadline } from '@agent-rental/contract';
import { apiErrorOfTransaction, type Chain } from '../chain/index.js';

/** Longest wait for a submitted transaction. It may still land afterwards; submitting it again is safe. */
const CONFIRM_TIMEOUT_MS = 60_000;
const REBROADCAST_MS = 2_000;

/** A signed transaction of the caller, taken apart. */
export interface SignedTransaction {
  signature: string;
  signedBytes: Uint8Array;
  message: VersionedMessage;
}

/**
 * Reads a signed transaction that a caller wants submitted: paid by its own wallet, calling our program.
 *
 * @throws ApiError `invalid_request` naming the fault.
 */
export function parseSignedTransaction(
  base64: string,
  wallet: string,
  programId: PublicKey,
): SignedTransaction {
  const refuse = (reason: string) => new ApiError('invalid_request', `transaction: ${reason}.`);
  let transaction: VersionedTransaction;
  const signedBytes = Buffer.from(base64, 'base64');
  try {
    transaction = VersionedTransaction.deserialize(signedBytes);
    // Bytes that do not encode back to themselves are malformed, although the decoder accepted them.
    if (!Buffer.from(transaction.serialize()).equals(signedBytes)) throw new Error('not canonical');
  } catch {
    throw refuse('is not a transaction in base64');
  }
  const { message } = transaction;
  const accounts = message.staticAccountKeys;
  if (accounts[0]?.toBase58() !== wallet) throw refuse('is paid by another wallet than the caller’s');
  const calls = message.compiledInstructions.some((item) => accounts[item.programIdIndex]?.equals(programId));
  if (!calls) throw refuse('does not call the marketplace program');
  const [first] = transaction.signatures;
  if (!first || first.every((byte) => byte === 0)) throw refuse('is not signed by the caller’s wallet');
  return { signature: bs58.encode(first), signedBytes, message };
}

/**
 * Sends a transaction and waits until it is confirmed; sends it again meanwhile, because a node may drop it.
 *
 * @returns `too_old` if its blockhash has ended: it never lands
 * @throws ApiError with the program's reason when it failed, `service_unavailable` when it was not confirmed in time.
 */
export async function submitAndConfirm(
  chain: Chain,
  transaction: SignedTransaction,
): Promise<'confirmed' | 'too_old'> {
  const { signature, signedBytes } = transaction;
  const failure = await chain.preflight(signedBytes);
  // A second simulation refuses a transaction that landed before. Its first result counts.
  const landed = failure ? (await chain.statuses([signature], true))[0] : undefined;
  if (failure?.error === 'BlockhashNotFound' && !landed) return 'too_old';
  if (failure && !landed) throw apiErrorOfTransaction(failure.error, failure.logs, chain.programId);
  const status = landed && isSettled(landed) ? landed : await sendUntilConfirmed(chain, transaction);
  if (status === null) {
    throw new ApiError(
      'service_unavailable',
      'The transaction was not confirmed in time. Submit the same bytes again.',
    );
  }
  if (status.err) {
    // The logs only make the reason clearer: that the transaction failed is known.
    const logs = await chain.logsOf(signature).catch(() => []);
    throw apiErrorOfTransaction(status.err, logs, chain.programId);
  }
  return 'confirmed';
}

function isSettled({ err, confirmationStatus }: SignatureStatus): boolean {
  return err !== null || confirmationStatus === 'confirmed' || confirmationStatus === 'finalized';
}

/** Null when it was not confirmed in time; bytes that are sent twice land once. */
async function sendUntilConfirmed(
  chain: Chain,
  { signedBytes, signature }: SignedTransaction,
): Promise<SignatureStatus | null> {
  // The caller's own blockhash is at most as old as the newest one.
  const { lastValidBlockHeight } = await chain.latestBlockhash(true);
  const deadline = createDeadline(CONFIRM_TIMEOUT_MS);
  try {
    for (;;) {
      // An RPC that cannot be reached now may have passed the bytes on before.
      await chain.send(signedBytes).catch(() => undefined);
      const round = createDeadline(REBROADCAST_MS, deadline.signal);
      const status = await chain
        .waitForConfirmation(signature, lastValidBlockHeight, round.signal)
        .finally(() => round.clear());
      if (status !== null || deadline.isOver) return status;
      const height = await chain.blockHeight('current').catch(() => 0n);
      if (height > BigInt(lastValidBlockHeight)) return null;
    }
  } finally {
    deadline.clear();
  }
}
