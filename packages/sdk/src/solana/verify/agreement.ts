import type { TransactionRequest } from '@agent-rental/contract';
import type { PublicKey } from '@solana/web3.js';

/** Default limit of a transaction's priority fee. */
export const DEFAULT_MAX_PRIORITY_FEE_LAMPORTS = 100_000n;

/** The caller's agreed terms. A transaction that needs an absent term is refused. */
export interface Agreement {
  /** The highest price: in total, or for a Per-Task rental for each run. */
  maxPriceLamports?: bigint | undefined;
  /** Per-Task: the exact first deposit. */
  depositLamports?: bigint | undefined;
  /** True: absent amounts come from the transaction, and `approve` judges them. */
  isApproved?: boolean | undefined;
  maxPriorityFeeLamports?: bigint | undefined;
  /** The protocol's treasury, if known. */
  treasury?: PublicKey | undefined;
  /** The protocol's hot keys, if known. */
  authorities?: readonly PublicKey[] | undefined;
}

/** The requested action, its wallet and its program. */
export interface AskedAction {
  request: TransactionRequest;
  wallet: PublicKey;
  programId: PublicKey;
}
