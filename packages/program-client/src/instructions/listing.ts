import { SystemProgram, type PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { findEscrowAddress, findListingAddress, findProtocolAddress } from '../accounts/addresses.js';
import type { RentalModel } from '../rental-model.js';
import { buildInstruction, type ProgramOption } from './build.js';

/** Values of {@link createListing}. */
export interface CreateListingInput extends ProgramOption {
  /** Owns the listing; signs and pays the rent of the listing and its escrow. */
  creator: PublicKey;
  /** The protocol's authority (or next authority); co-signs a listing that passed the review. */
  authority: PublicKey;
  /** 1 to 32 UTF-8 bytes; can never be used again. */
  listingId: string;
  rentalModel: RentalModel;
  /** One-Time: once. Subscription: per 30 days. Per-Task: per run. In lamports. */
  priceLamports: bigint;
  /** Per-Task: the least first deposit, at least the price; stored as 0 for the other models. In lamports. */
  minDepositLamports: bigint;
  /** At most 200 UTF-8 bytes. */
  metadataUri: string;
}

/**
 * Creates a listing and its escrow. Signers: creator and protocol authority.
 *
 * Errors: `ProtocolPaused`, `Unauthorized`, `PriceTooLow`, `ArithmeticOverflow` above 10^15 lamports,
 * `DepositTooLow`, `MetadataUriTooLong`, `AccountDiscriminatorAlreadySet` (3000) for a used id.
 */
export function createListing(input: CreateListingInput): TransactionInstruction {
  const listing = findListingAddress(input.listingId, input.programId).address;
  return buildInstruction(
    'create_listing',
    {
      creator: input.creator,
      authority: input.authority,
      protocol: findProtocolAddress(input.programId).address,
      listing,
      escrow: findEscrowAddress(listing, input.programId).address,
      system_program: SystemProgram.programId,
    },
    {
      listingId: input.listingId,
      rentalModel: input.rentalModel,
      priceLamports: input.priceLamports,
      minDepositLamports: input.minDepositLamports,
      metadataUri: input.metadataUri,
    },
    input.programId,
  );
}

/** Values of {@link updateListing}; absent values stay unchanged. */
export interface UpdateListingInput extends ProgramOption {
  creator: PublicKey;
  listingId: string;
  /** In lamports, as in {@link CreateListingInput}. */
  priceLamports?: bigint | undefined;
  /** In lamports; ignored unless the listing is Per-Task. */
  minDepositLamports?: bigint | undefined;
  metadataUri?: string | undefined;
  /** Pauses or resumes. */
  status?: 'active' | 'paused' | undefined;
}

/**
 * Changes, pauses or resumes a listing. Signer: its creator. Each call raises the revision, also an empty one.
 *
 * Errors: `Unauthorized`, `ListingNotActive` once closed and for a resume while suspended, and the errors of the values as in
 * {@link createListing}.
 */
export function updateListing(input: UpdateListingInput): TransactionInstruction {
  return buildInstruction(
    'update_listing',
    {
      creator: input.creator,
      protocol: findProtocolAddress(input.programId).address,
      listing: findListingAddress(input.listingId, input.programId).address,
    },
    {
      priceLamports: input.priceLamports,
      minDepositLamports: input.minDepositLamports,
      metadataUri: input.metadataUri,
      paused: input.status === undefined ? undefined : input.status === 'paused',
    },
    input.programId,
  );
}

/** Values of {@link closeListing}. */
export interface CloseListingInput extends ProgramOption {
  creator: PublicKey;
  listingId: string;
}

function earningAccounts({ creator, listingId, programId }: CloseListingInput) {
  const listing = findListingAddress(listingId, programId).address;
  return { creator, listing, escrow: findEscrowAddress(listing, programId).address };
}

/**
 * Closes a listing for ever. Signer: its creator.
 *
 * Errors: `Unauthorized`, `ListingNotActive` when it is closed, `ActiveSubscribers` before the latest
 * subscription's end, `EscrowNotEmpty` while earnings are left.
 */
export function closeListing(input: CloseListingInput): TransactionInstruction {
  return buildInstruction('close_listing', earningAccounts(input), {}, input.programId);
}

/** Values of {@link moderateListing}. */
export interface ModerateListingInput extends ProgramOption {
  /** The protocol's admin; signs. */
  admin: PublicKey;
  listingId: string;
  /** True suspends, false lifts. */
  suspended: boolean;
}

/**
 * Suspends a listing, or makes its suspension a pause. Signer: the protocol's admin.
 *
 * Errors: `Unauthorized`, `ListingNotActive` once closed.
 */
export function moderateListing(input: ModerateListingInput): TransactionInstruction {
  return buildInstruction(
    'moderate_listing',
    {
      admin: input.admin,
      protocol: findProtocolAddress(input.programId).address,
      listing: findListingAddress(input.listingId, input.programId).address,
    },
    { suspended: input.suspended },
    input.programId,
  );
}

/** Values of {@link withdrawEarnings}. */
export interface WithdrawEarningsInput extends ProgramOption {
  /** Receives the lamports. */
  creator: PublicKey;
  listingId: string;
  /** In lamports; all of the earnings when left out. */
  amountLamports?: bigint | undefined;
}

/**
 * Pays earnings out of the escrow. Signer: the listing's creator. Works on any listing, also while the protocol
 * is paused.
 *
 * Errors: `Unauthorized`, `WithdrawalExceedsBalance`, `NothingToWithdraw`.
 */
export function withdrawEarnings(input: WithdrawEarningsInput): TransactionInstruction {
  const args = { amountLamports: input.amountLamports };
  return buildInstruction('withdraw_earnings', earningAccounts(input), args, input.programId);
}
