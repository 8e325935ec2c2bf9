import type { TransactionRequest } from '@agent-rental/contract';
import type { PublicKey } from '@solana/web3.js';

/** The most that a transaction may cost above its signatures, unless the caller says otherwise. */
export const DEFAULT_MAX_PRIORITY_FEE_LAMPORTS = 100_000n;

/** What a caller agrees to. What is absent was not agreed to, and a transaction that needs it is refused. */
export interface Agreement {
  /** The most to pay: in all, or for a Per-Task rental for each run. */
  maxPriceLamports?: bigint | undefined;
  /** Per-Task: the first deposit, exactly. */
  depositLamports?: bigint | undefined;
  /** What is absent above is taken from the transaction: `approve` judges what that comes to. */
  isApproved?: boolean | undefined;
  maxPriorityFeeLamports?: bigint | undefined;
  /** The protocol's treasury, where it is known. */
  treasury?: PublicKey | undefined;
  /** The protocol's hot keys, where they are known. */
  authorities?: readonly PublicKey[] | undefined;
}

/** Whose transaction it is, and what it is for. */
export interface AskedAction {
  request: TransactionRequest;
  wallet: PublicKey;
  programId: PublicKey;
}
