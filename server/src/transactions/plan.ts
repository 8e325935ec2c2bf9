import type { Renewal } from '@agent-rental/contract';
import type { AccountName } from '@agent-rental/program-client';
import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import type { AuthoritySigner } from '../chain/index.js';
import type { ListingState } from './listing-state.js';

/** Instructions for a wallet to sign, with the amounts that it pays and gets. */
export interface Plan {
  instructions: TransactionInstruction[];
  /** Who signs beside the wallet. */
  coSigner?: AuthoritySigner;
  /** For people: the effect of the transaction. */
  message: string;
  /** Leaves the wallet as a price or a deposit. */
  priceLamports?: bigint;
  /** The highest amount that the transaction agrees to: in all, or per task. */
  maxPriceLamports?: bigint;
  /** Accounts whose rent the wallet pays. */
  createdAccounts?: readonly AccountName[];
  /** Comes back to the wallet. */
  returnedLamports?: bigint;
  /** The creator's part of a payment of the price, after the protocol's fee. */
  earningsLamports?: bigint;
  /** The effect of a renewal. */
  renewal?: Renewal;
}

/** The input of every plan. Plans are pure: the same input gives the same instructions. */
export interface PlanContext {
  wallet: PublicKey;
  state: ListingState;
  /** The protocol's. */
  treasury: PublicKey;
  /** The protocol's, who suspends listings. */
  admin: PublicKey;
  programId: PublicKey;
  /** The chain's time. */
  now: Date;
  /** Why the operator suspended the listing, where that is on record. */
  suspensionReason?: string | undefined;
}
