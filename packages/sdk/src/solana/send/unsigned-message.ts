import {
  TransactionMessage,
  type Connection,
  type MessageV0,
  type PublicKey,
  type TransactionInstruction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import { apiError, reach } from './chain-errors.js';

const NEXT_BLOCKHASH_MS = 200;
/** A slot takes 0.2 to 0.4 s. An endpoint that has the same newest blockhash for this long does not follow the chain. */
const MAX_WAIT_MS = 10_000;
/** Longer than the life of a blockhash, which is 30 to 60 s. */
const REMEMBERED_MS = 120_000;

/** A message to sign, and its last valid block height. */
export interface UnsignedMessage {
  message: MessageV0;
  blockhash: string;
  lastValidBlockHeight: number;
}

/** Times at which this process made messages, by the messages' bytes. */
const made = new Map<string, number>();

/**
 * Makes a message on the newest blockhash that differs from all earlier messages of this process. Two equal messages have
 * the same signature and land only once. The status of the first of two equal transfers would count for the second, too.
 * An equal message therefore waits for the next blockhash.
 *
 * @throws ConnectionError if the endpoint cannot be reached
 * @throws ApiError `service_unavailable` if the endpoint's blockhash does not change
 * @throws The signal's reason after an abort
 */
export async function makeMessage(
  connection: Pick<Connection, 'getLatestBlockhash'>,
  payer: PublicKey,
  instructions: TransactionInstruction[],
  signal?: AbortSignal,
): Promise<UnsignedMessage> {
  for (let waitedMs = 0; waitedMs <= MAX_WAIT_MS; waitedMs += NEXT_BLOCKHASH_MS) {
    signal?.throwIfAborted();
    const { blockhash, lastValidBlockHeight } = await reach(() => connection.getLatestBlockhash('finalized'));
    const message = new TransactionMessage({
      payerKey: payer,
      recentBlockhash: blockhash,
      instructions,
    }).compileToV0Message();
    if (isNew(message)) return { message, blockhash, lastValidBlockHeight };
    await new Promise((resolve) => setTimeout(resolve, NEXT_BLOCKHASH_MS));
  }
  throw apiError('service_unavailable', 'The RPC endpoint has had no new blockhash for 10 s.');
}

function isNew(message: MessageV0): boolean {
  const now = Date.now();
  // The oldest messages come first.
  for (const [bytes, at] of made) {
    if (now - at < REMEMBERED_MS) break;
    made.delete(bytes);
  }
  const bytes = bs58.encode(message.serialize());
  if (made.has(bytes)) return false;
  made.set(bytes, now);
  return true;
}
