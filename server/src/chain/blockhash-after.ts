import { setTimeout as wait } from 'node:timers/promises';
import type { ChainSource } from './endpoints/source.js';

const POLL_MS = 100;

/** A blockhash for a new transaction. */
export interface RecentBlockhash {
  blockhash: string;
  lastValidBlockHeight: number;
}

/**
 * Waits for the blockhash of a block that has a transaction, or of a later block on its fork. A second transaction that is
 * signed over it lands on no fork without the first one, so it need not wait for the confirmation.
 *
 * A block that only one of several endpoints tells of proves nothing: then there is none.
 *
 * @returns undefined where the transaction failed, or the signal aborted first
 */
export async function blockhashAfter(
  { only }: Pick<ChainSource, 'only'>,
  signature: string,
  signal: AbortSignal,
): Promise<RecentBlockhash | undefined> {
  if (!only) return undefined;
  const { rpc, connection } = only;
  const read = async () => (await rpc.getSignatureStatuses([signature], false)).statuses[0] ?? null;
  while (!signal.aborted) {
    const before = await read();
    if (before?.err) return undefined;
    if (before) {
      const { context, value } = await connection.getLatestBlockhashAndContext('processed');
      // The endpoint may have changed its fork between the answers.
      const after = await read();
      if (context.slot >= before.slot && after?.slot === before.slot && !after.err) return value;
    }
    await wait(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}
