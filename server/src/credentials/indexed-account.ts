import type { ListingStatus, RentalModel } from '@agent-rental/contract';
import {
  accountName,
  decodeAccessCredential,
  decodeEscrow,
  decodeListing,
  decodePerQueryBalance,
  findAccessCredentialAddress,
  findEscrowAddress,
  findListingAddress,
  findPerQueryBalanceAddress,
} from '@agent-rental/program-client';
import type { AccountInfo, PublicKey } from '@solana/web3.js';
import type { Insertable } from 'kysely';
import type { Database } from '../database/schema.js';

const WINDOW_BYTES = 32;

/** The index's record of an account at one slot. */
export type IndexedAccount =
  | { kind: 'credential'; row: Omit<Insertable<Database['credentials']>, 'slot'> }
  | { kind: 'balance'; row: Omit<Insertable<Database['balances']>, 'slot'> }
  | { kind: 'escrow'; row: Omit<Insertable<Database['escrows']>, 'slot'> }
  | { kind: 'listing'; id: string; address: string; fields: ListingFields }
  /** There is no account of ours at the address. */
  | { kind: 'absent'; address: string };

/** The fields of a listing that the chain decides. */
interface ListingFields {
  rental_model: RentalModel;
  status: ListingStatus;
  price_lamports: bigint;
  min_deposit_lamports: bigint;
  metadata_uri: string;
  created_at: Date;
}

/**
 * Reads an account for the index; null for an account that the index does not hold. The program must own it, and its
 * content must derive its address. Anyone can imitate our layout, or hand our bytes to another program.
 */
export function readIndexedAccount(
  address: PublicKey,
  account: AccountInfo<Buffer> | null | undefined,
  programId: PublicKey,
): IndexedAccount | null {
  const key = address.toBase58();
  if (!account?.owner.equals(programId)) return { kind: 'absent', address: key };
  const { data } = account;
  switch (accountName(data)) {
    case 'Listing': {
      const listing = decodeListing(data);
      if (!findListingAddress(listing.listingId, programId).address.equals(address)) return null;
      return {
        kind: 'listing',
        id: listing.listingId,
        address: key,
        fields: {
          rental_model: listing.rentalModel,
          status: listing.status,
          price_lamports: listing.priceLamports,
          min_deposit_lamports: listing.minDepositLamports,
          metadata_uri: listing.metadataUri,
          created_at: dateOf(listing.createdAt),
        },
      };
    }
    case 'Escrow': {
      const escrow = decodeEscrow(data);
      if (!findEscrowAddress(escrow.listing, programId).address.equals(address)) return null;
      return {
        kind: 'escrow',
        row: {
          address: key,
          listing_address: escrow.listing.toBase58(),
          earnings_lamports: escrow.earningsLamports,
          total_earned_lamports: escrow.totalEarnedLamports,
        },
      };
    }
    case 'AccessCredential': {
      const { buyer, listing, ...credential } = decodeAccessCredential(data);
      if (!findAccessCredentialAddress(buyer, listing, programId).address.equals(address)) return null;
      return {
        kind: 'credential',
        row: {
          address: key,
          buyer: buyer.toBase58(),
          listing_address: listing.toBase58(),
          rental_model: credential.rentalModel,
          valid: credential.valid,
          purchased_at: dateOf(credential.purchasedAt),
          expires_at: credential.expiresAt === null ? null : dateOf(credential.expiresAt),
        },
      };
    }
    case 'PerQueryBalance': {
      const { buyer, listing, ...balance } = decodePerQueryBalance(data);
      if (!findPerQueryBalanceAddress(buyer, listing, programId).address.equals(address)) return null;
      return {
        kind: 'balance',
        row: {
          address: key,
          buyer: buyer.toBase58(),
          listing_address: listing.toBase58(),
          balance_lamports: balance.balanceLamports,
          max_price_lamports: balance.maxPriceLamports,
          highest_sequence: balance.highestSequence,
          window_bits: windowBytes(balance.window),
        },
      };
    }
    default:
      return null;
  }
}

/** The charge window as stored: 32 bytes, bit `i` of the little-endian number for `highest - i`, as `get_bit` has it. */
export function windowBytes(window: bigint): Buffer {
  return Buffer.from(Buffer.from(window.toString(16).padStart(WINDOW_BYTES * 2, '0'), 'hex').toReversed());
}

function dateOf(unixSeconds: bigint): Date {
  return new Date(Number(unixSeconds) * 1000);
}
