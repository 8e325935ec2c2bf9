import {
  decodeAccessCredential,
  decodeClock,
  decodeEscrow,
  decodeListing,
  decodePerQueryBalance,
  findAccessCredentialAddress,
  findEscrowAddress,
  findListingAddress,
  findPerQueryBalanceAddress,
  type AccessCredential,
  type Listing,
  type PerQueryBalance,
} from '@agent-rental/program-client';
import { PublicKey, SYSVAR_CLOCK_PUBKEY } from '@solana/web3.js';
import type { Chain } from '../chain/index.js';
import { ApiError } from '../errors/api-error.js';

/** A published listing on-chain, and one wallet's rental of it: the whole input of a plan. */
export interface ListingState {
  listing: Listing;
  /** Not withdrawn yet. */
  earningsLamports: bigint;
  /** The wallet's credential; a revoked one is here too. */
  credential: AccessCredential | undefined;
  /** The wallet's prepaid balance, with all that its account holds, rent included. */
  balance: (PerQueryBalance & { accountLamports: bigint }) | undefined;
}

/** The state with the time of the chain, by which the program decides. */
export interface ListingStateNow {
  state: ListingState;
  now: Date;
}

/**
 * Reads a listing's state in one call. The chain and not the index, because a price that is shown and signed
 * must be the one that the program will find.
 *
 * @throws ApiError `listing_not_found` when it has no account, `service_unavailable` when the chain is out of reach.
 */
export async function readListingState(
  chain: Chain,
  listingId: string,
  wallet: string,
): Promise<ListingStateNow> {
  const { programId } = chain;
  const buyer = new PublicKey(wallet);
  const listingAddress = findListingAddress(listingId, programId).address;
  const { accounts } = await chain.getAccounts([
    listingAddress,
    findEscrowAddress(listingAddress, programId).address,
    findAccessCredentialAddress(buyer, listingAddress, programId).address,
    findPerQueryBalanceAddress(buyer, listingAddress, programId).address,
    SYSVAR_CLOCK_PUBKEY,
  ]);
  const clock = accounts.pop();
  // Lamports alone make no account: anyone can send some to an address that is not in use.
  const [listing, escrow, credential, balance] = accounts.map((account) =>
    account?.owner.equals(programId) && account.data.length > 0 ? account : undefined,
  );
  if (!listing || !escrow) throw new ApiError('listing_not_found', 'The listing is not on-chain.');
  if (!clock) throw new ApiError('service_unavailable', 'The chain has no clock.');
  return {
    state: {
      listing: decodeListing(listing.data),
      earningsLamports: decodeEscrow(escrow.data).earningsLamports,
      credential: credential && decodeAccessCredential(credential.data),
      balance: balance && {
        ...decodePerQueryBalance(balance.data),
        accountLamports: BigInt(balance.lamports),
      },
    },
    now: new Date(Number(decodeClock(clock.data)) * 1000),
  };
}
