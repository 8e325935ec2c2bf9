import {
  decodeAccessCredential,
  decodeListing,
  decodePerQueryBalance,
  findAccessCredentialAddress,
  findListingAddress,
  findPerQueryBalanceAddress,
} from '@agent-rental/program-client';
import { PublicKey, type AccountInfo } from '@solana/web3.js';
import type { Chain } from '../chain/index.js';
import type { AccessState } from './access-state.js';

/** A renter's access as the chain has it, read in one call. */
export interface ChainAccessState extends AccessState {
  credentialAddress: string;
  balanceAddress: string;
}

/**
 * Reads a renter's access state from the chain; undefined when the listing has no account there.
 *
 * @throws ApiError `service_unavailable` when the chain is out of reach.
 */
export async function readChainAccessState(
  chain: Chain,
  listingId: string,
  wallet: string,
): Promise<ChainAccessState | undefined> {
  const buyer = new PublicKey(wallet);
  const listing = findListingAddress(listingId, chain.programId).address;
  const credential = findAccessCredentialAddress(buyer, listing, chain.programId).address;
  const balance = findPerQueryBalanceAddress(buyer, listing, chain.programId).address;
  const { accounts } = await chain.getAccounts([listing, credential, balance]);
  const ours = accounts.map((account) => dataOf(account, chain.programId));
  const [listingData, credentialData, balanceData] = ours;
  if (!listingData) return undefined;
  const access = credentialData && decodeAccessCredential(credentialData);
  return {
    listing: decodeListing(listingData),
    credential: access && {
      valid: access.valid,
      rentalModel: access.rentalModel,
      expiresAt: access.expiresAt === null ? null : new Date(Number(access.expiresAt) * 1000),
    },
    balance: balanceData ? decodePerQueryBalance(balanceData) : undefined,
    credentialAddress: credential.toBase58(),
    balanceAddress: balance.toBase58(),
  };
}

/** Data of an account that the program owns; lamports alone make no account. */
function dataOf(account: AccountInfo<Buffer> | null | undefined, programId: PublicKey): Buffer | undefined {
  return account?.owner.equals(programId) && account.data.length > 0 ? account.data : undefined;
}
