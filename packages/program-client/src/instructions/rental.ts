import { SystemProgram, type PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { buildInstruction, rentalAccounts, type ProgramOption } from './build.js';

interface RentalInput extends ProgramOption {
  /** Rents, signs and pays; for {@link fundBalance} it only rents. */
  buyer: PublicKey;
  listingId: string;
  /** The most that the buyer agrees to pay, in lamports. */
  maxPriceLamports: bigint;
}

/** Values of {@link purchaseOneTime}. */
export interface PurchaseOneTimeInput extends RentalInput {
  /** The protocol's treasury, as its account names it. */
  treasury: PublicKey;
}

/** Values of {@link purchaseSubscription} and {@link renewSubscription}; the cap is for the whole window. */
export interface SubscriptionInput extends RentalInput {
  /** The protocol's treasury, as its account names it. */
  treasury: PublicKey;
  /** 2592000, 7776000 or 31536000. */
  durationSeconds: bigint | number;
}

/** Values of {@link purchasePerQuery}; the cap is for one run, and stays with the balance. */
export interface PurchasePerQueryInput extends RentalInput {
  /** The deposit, at least the listing's minimum, in lamports. */
  depositLamports: bigint;
}

/** Values of {@link topupBalance}; the cap for one run replaces the earlier cap. */
export interface TopupBalanceInput extends RentalInput {
  /** The lamports to add; 0 only accepts a new price. */
  amountLamports: bigint;
}

/** Values of {@link fundBalance}; the cap is for the paid run. */
export interface FundBalanceInput extends RentalInput {
  /** Pays the amount and the rent. It signs, and so does the authority. */
  payer: PublicKey;
  /** One of the protocol's two authorities. It vouches for the buyer's payment. */
  authority: PublicKey;
  /** The lamports to add: at least the price, and the listing's minimum where the balance is opened. */
  amountLamports: bigint;
}

const accountsOf = (input: RentalInput & { treasury?: PublicKey }) => ({
  ...rentalAccounts(input),
  treasury: input.treasury,
  system_program: SystemProgram.programId,
});

/**
 * Buys a permanent credential: the buyer pays the listing's price and the credential's rent. Signer: the buyer.
 *
 * Errors: `ProtocolPaused`, `ListingNotActive`, `InvalidAccessType` for another rental model or when the wallet
 * holds a credential, `CredentialRevoked`, `PriceAboveLimit`.
 */
export function purchaseOneTime(input: PurchaseOneTimeInput): TransactionInstruction {
  const args = { maxPriceLamports: input.maxPriceLamports };
  return buildInstruction('purchase_one_time', accountsOf(input), args, input.programId);
}

/**
 * Buys a subscription window from now on. Signer: the buyer.
 *
 * Errors: as {@link purchaseOneTime}, and `InvalidDuration`.
 */
export function purchaseSubscription(input: SubscriptionInput): TransactionInstruction {
  const args = { durationSeconds: BigInt(input.durationSeconds), maxPriceLamports: input.maxPriceLamports };
  return buildInstruction('purchase_subscription', accountsOf(input), args, input.programId);
}

/**
 * Opens a prepaid balance: the buyer pays the deposit and two accounts' rent. Signer: the buyer.
 *
 * Errors: as {@link purchaseOneTime}, and `DepositTooLow`.
 */
export function purchasePerQuery(input: PurchasePerQueryInput): TransactionInstruction {
  const args = { depositLamports: input.depositLamports, maxPriceLamports: input.maxPriceLamports };
  return buildInstruction('purchase_per_query', accountsOf(input), args, input.programId);
}

/**
 * Extends a subscription, expired or not, to now + duration. Signer: the buyer.
 *
 * Errors: `CredentialNotFound`, `CredentialRevoked`, `ProtocolPaused`, `ListingNotActive`, `InvalidAccessType`,
 * `InvalidDuration` (also when the new end would not be later than the present one), `PriceAboveLimit`.
 */
export function renewSubscription(input: SubscriptionInput): TransactionInstruction {
  const args = { durationSeconds: BigInt(input.durationSeconds), maxPriceLamports: input.maxPriceLamports };
  return buildInstruction('renew_subscription', accountsOf(input), args, input.programId);
}

/**
 * Adds to a prepaid balance and replaces its price cap. Signer: the buyer.
 *
 * Errors: `CredentialNotFound`, `CredentialRevoked`, `InvalidAccessType`, `ProtocolPaused`, `ListingNotActive`,
 * `PriceAboveLimit`, `ArithmeticOverflow`.
 */
export function topupBalance(input: TopupBalanceInput): TransactionInstruction {
  const args = { amountLamports: input.amountLamports, maxPriceLamports: input.maxPriceLamports };
  return buildInstruction('topup_balance', accountsOf(input), args, input.programId);
}

/**
 * Adds to a buyer's prepaid balance, which another wallet pays, and opens it where there is none. The rent is the buyer's
 * when the rental ends. Signers: the payer and one of the protocol's two authorities.
 *
 * Errors: `ProtocolPaused`, `Unauthorized`, `ListingNotActive`, `InvalidAccessType`, `PriceAboveLimit`, `DepositTooLow`,
 * `CredentialRevoked`, `ArithmeticOverflow`.
 */
export function fundBalance(input: FundBalanceInput): TransactionInstruction {
  const { payer, authority, amountLamports, maxPriceLamports, programId } = input;
  const accounts = { ...accountsOf(input), payer, authority };
  return buildInstruction('fund_balance', accounts, { amountLamports, maxPriceLamports }, programId);
}
