import type { SignatureStatus } from '@solana/web3.js';

/** Signatures that one call of the RPC tells the status of. */
const MOST_SIGNATURES = 256;

interface Waiting {
  signature: string;
  lastValidBlockHeight: number;
  signal: AbortSignal;
  resolve(status: SignatureStatus | null): void;
}

/** The calls of the chain that this uses. */
export interface ConfirmationSource {
  statuses(signatures: string[]): Promise<(SignatureStatus | null)[]>;
  blockHeight(): Promise<number>;
}

/**
 * Waits for transactions. One call asks about all waiting transactions, every `pollMs`, so the calls do not grow with the
 * number of runs.
 *
 * A failed poll says nothing about a transaction. It is repeated until the transaction is settled, its blockhash has
 * expired, or the caller's signal aborts. The promise never rejects.
 *
 * @param onPollFailed is told of each failed poll.
 */
export function createConfirmations(
  source: ConfirmationSource,
  pollMs: number,
  onPollFailed: (error: unknown) => void = () => undefined,
): (signature: string, lastValidBlockHeight: number, signal: AbortSignal) => Promise<SignatureStatus | null> {
  let waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isAsking = false;

  const isSettled = (status: SignatureStatus | null | undefined): status is SignatureStatus =>
    status?.err != null ||
    status?.confirmationStatus === 'confirmed' ||
    status?.confirmationStatus === 'finalized';

  /** Asks about some; gives the ones without an answer yet. */
  async function ask(some: Waiting[]): Promise<Waiting[]> {
    try {
      const statuses = await source.statuses(some.map(({ signature }) => signature));
      const open = some.filter(({ resolve }, index) => {
        const status = statuses[index];
        if (isSettled(status)) resolve(status);
        return !isSettled(status);
      });
      if (open.length === 0) return [];
      const height = await source.blockHeight();
      return open.filter(({ lastValidBlockHeight, signal, resolve }) => {
        const isOver = signal.aborted || height > lastValidBlockHeight;
        if (isOver) resolve(null);
        return !isOver;
      });
    } catch (error) {
      onPollFailed(error);
      // Transactions that were settled before the failure have been resolved; a second resolve has no effect.
      return some.filter(({ signal }) => !signal.aborted);
    }
  }

  async function askAll(): Promise<void> {
    const all = waiting.filter(({ signal }) => !signal.aborted);
    waiting = [];
    isAsking = true;
    const pages: Waiting[][] = [];
    for (let start = 0; start < all.length; start += MOST_SIGNATURES) {
      pages.push(all.slice(start, start + MOST_SIGNATURES));
    }
    const open = (await Promise.all(pages.map(ask))).flat();
    isAsking = false;
    // Transactions added meanwhile are not part of this answer.
    const next = waiting.length > 0 ? 0 : pollMs;
    waiting.push(...open);
    if (waiting.length > 0) askIn(next);
  }

  function askIn(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => void askAll(), ms);
  }

  return (signature, lastValidBlockHeight, signal) =>
    new Promise((resolvePromise) => {
      // The signal ends the wait also while a poll hangs.
      const onAbort = () => resolvePromise(null);
      const resolve = (status: SignatureStatus | null) => {
        signal.removeEventListener('abort', onAbort);
        resolvePromise(status);
      };
      if (signal.aborted) {
        resolve(null);
        return;
      }
      signal.addEventListener('abort', onAbort, { once: true });
      waiting.push({ signature, lastValidBlockHeight, signal, resolve });
      if (!isAsking) askIn(0);
    });
}
