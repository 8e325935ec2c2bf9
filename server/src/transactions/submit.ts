import { VersionedTransaction, type PublicKey, type VersionedMessage } from '@solana/web3.js';
import bs58 from 'bs58';
import { ApiError } from '../platform/api-error.js';
import { apiErrorOfTransaction, type Chain } from '../chain/index.js';

/** Longest wait for a submitted transaction. It may still land afterwards; submitting it again is safe. */
const CONFIRM_TIMEOUT_MS = 60_000;

/** A signed transaction of the caller, taken apart. */
export interface SignedTransaction {
  signature: string;
  wire: Uint8Array;
  message: VersionedMessage;
}

/**
 * Reads a signed transaction that a caller wants submitted: paid by its own wallet, calling our program.
 *
 * @throws ApiError `invalid_request` saying what is wrong.
 */
export function parseSignedTransaction(
  base64: string,
  wallet: string,
  programId: PublicKey,
): SignedTransaction {
  const refuse = (reason: string) => new ApiError('invalid_request', `transaction: ${reason}.`);
  let transaction: VersionedTransaction;
  const wire = Buffer.from(base64, 'base64');
  try {
    transaction = VersionedTransaction.deserialize(wire);
    // What cannot be written back as it came is malformed, whatever the decoder made of it.
    if (!Buffer.from(transaction.serialize()).equals(wire)) throw new Error('not canonical');
  } catch {
    throw refuse('is not a wire transaction in base64');
  }
  const { message } = transaction;
  const accounts = message.staticAccountKeys;
  if (accounts[0]?.toBase58() !== wallet) throw refuse('is paid by another wallet than the caller’s');
  const calls = message.compiledInstructions.some((item) => accounts[item.programIdIndex]?.equals(programId));
  if (!calls) throw refuse('does not call the marketplace program');
  const [first] = transaction.signatures;
  if (!first || first.every((byte) => byte === 0)) throw refuse('is not signed by the caller’s wallet');
  return { signature: bs58.encode(first), wire, message };
}

/**
 * Sends a transaction and waits until it is confirmed.
 *
 * @throws ApiError with the program's reason when it failed, `service_unavailable` when it was not confirmed in time.
 */
export async function submitAndConfirm(chain: Chain, transaction: SignedTransaction): Promise<void> {
  const failure = await chain.preflight(transaction.wire);
  const [known] = failure ? await chain.statuses([transaction.signature]) : [null];
  // A transaction that landed before is refused by a second simulation, and is no failure.
  if (failure && (!known || known.err))
    throw apiErrorOfTransaction(failure.error, failure.logs, chain.programId);
  if (!failure) await chain.send(transaction.wire);
  const { lastValidBlockHeight } = await chain.latestBlockhash(true);
  const signal = AbortSignal.timeout(CONFIRM_TIMEOUT_MS);
  const status = await chain.waitForConfirmation(transaction.signature, lastValidBlockHeight, signal);
  if (status === null) {
    throw new ApiError(
      'service_unavailable',
      'The transaction was not confirmed in time. Submit the same bytes again.',
    );
  }
  if (status.err) {
    throw apiErrorOfTransaction(status.err, await chain.logsOf(transaction.signature), chain.programId);
  }
}
