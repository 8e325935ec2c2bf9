import type { Connection, PublicKey, SignatureStatus } from '@solana/web3.js';
import { ConnectionError, isApiError } from '../../errors.js';
import { apiError, apiErrorOfTransaction, reach } from './chain-errors.js';

/** The part of a web3.js `Connection` that lands a transaction. */
export type SendingConnection = Pick<
  Connection,
  'sendRawTransaction' | 'getSignatureStatuses' | 'getBlockHeight' | 'getTransaction'
>;

const POLL_MS = 400;
const REBROADCAST_MS = 2_000;
/** After this many failed polls in a row the endpoint counts as lost: about half a minute with its timeouts. */
const MAX_FAILED_POLLS = 20;

/** A signed transaction to send. */
interface SentTransaction {
  wire: Uint8Array;
  /** Base58. */
  signature: string;
  /** After this block height it cannot land any more. */
  lastValidBlockHeight: number;
  programId: PublicKey;
}

/**
 * Sends a transaction and waits until it is final: some 150 ms after its block with Alpenglow, 13 s before. Nodes drop
 * transactions, so the same bytes are sent again until they land or expire. They land at most once.
 *
 * @throws ApiError with the program's reason if the transaction failed.
 * @throws ApiError `service_unavailable` if its blockhash expired first. It will never land: make a new one.
 * @throws ConnectionError with the signature if the endpoint is lost. The transaction may have landed.
 * @throws The signal's reason after an abort. The transaction may still land.
 */
export async function sendAndConfirm(
  connection: SendingConnection,
  sent: SentTransaction,
  signal?: AbortSignal,
): Promise<void> {
  const { wire, signature } = sent;
  let failedPolls = 0;
  for (let sinceSentMs = REBROADCAST_MS; ; sinceSentMs += POLL_MS) {
    signal?.throwIfAborted();
    try {
      if (sinceSentMs >= REBROADCAST_MS) {
        // A node may refuse bytes that have landed. The status tells.
        const isSent = await connection.sendRawTransaction(wire, { skipPreflight: true, maxRetries: 0 }).then(
          () => true,
          () => false,
        );
        if (isSent) sinceSentMs = 0;
      }
      const height = await connection.getBlockHeight('finalized');
      // Read the height before the status: a transaction that is missing after its last height will never land.
      const status = await statusOf(connection, signature, height > sent.lastValidBlockHeight);
      failedPolls = 0;
      if (status?.err) throw await failureOf(connection, sent, status.err);
      if (status?.confirmationStatus === 'finalized') return;
      if (height > sent.lastValidBlockHeight && !status) {
        throw apiError('service_unavailable', 'The transaction expired before it landed.');
      }
    } catch (error) {
      if (isApiError(error)) throw error;
      failedPolls += 1;
      if (failedPolls >= MAX_FAILED_POLLS) {
        throw new ConnectionError(
          `The RPC endpoint was lost while waiting for ${signature}, which may have landed.`,
          { cause: error, endpoint: 'rpc' },
        );
      }
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function statusOf(
  connection: SendingConnection,
  signature: string,
  searchTransactionHistory: boolean,
): Promise<SignatureStatus | null | undefined> {
  const { value } = await connection.getSignatureStatuses([signature], { searchTransactionHistory });
  return value[0];
}

async function failureOf(connection: SendingConnection, sent: SentTransaction, error: unknown) {
  const landed = await reach(() =>
    connection.getTransaction(sent.signature, { commitment: 'finalized', maxSupportedTransactionVersion: 0 }),
  ).catch(() => null);
  return apiErrorOfTransaction(error, landed?.meta?.logMessages ?? [], sent.programId);
}
