import { PublicKey } from '@solana/web3.js';
import type { WireInstruction } from './wire-transaction.js';

/** The Lighthouse program, by which Phantom and Solflare guard the transactions that they sign. */
export const LIGHTHOUSE_PROGRAM_ID = new PublicKey('L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95');

/**
 * Lighthouse's assertions by their first byte: from `AssertAccountData` to `AssertBubblegumTreeConfigAccount`. They read accounts,
 * and make the transaction fail. The bytes below write to memory accounts.
 */
const ASSERTIONS = { first: 2, last: 17 } as const;

/** Whether an instruction is an assertion that a wallet may add. It moves no lamports and writes to no account. */
export function isWalletGuard({ programId, data }: Pick<WireInstruction, 'programId' | 'data'>): boolean {
  const [kind = 0] = data;
  return programId.equals(LIGHTHOUSE_PROGRAM_ID) && kind >= ASSERTIONS.first && kind <= ASSERTIONS.last;
}
