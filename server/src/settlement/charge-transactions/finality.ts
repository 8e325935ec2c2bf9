import type { SignatureStatus } from '@solana/web3.js';
import { createConfirmations, type Chain } from '../../chain/index.js';

const POLL_MS = 500;

/**
 * Waits until a transaction is final or has failed; null once the signal aborts. All that are waited for at the same time
 * are asked about together. A transaction that a fork dropped is waited for as long: it may land again.
 */
export type FinalityWait = (signature: string, signal: AbortSignal) => Promise<SignatureStatus | null>;

export function createFinalityWait(chain: Pick<Chain, 'statuses'>): FinalityWait {
  const wait = createConfirmations(
    {
      statuses: async (signatures) =>
        (await chain.statuses(signatures)).map((status) =>
          status?.err != null || status?.confirmationStatus === 'finalized' ? status : null,
        ),
      blockHeight: async () => 0,
    },
    POLL_MS,
  );
  return (signature, signal) => wait(signature, 0, signal);
}
