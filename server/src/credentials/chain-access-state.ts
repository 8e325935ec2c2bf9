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
import { ApiError } from '../errors/api-error.js';
import { accessStatus, type AccessState } from './access-state.js';

/** A renter's access as the chain has it, read in one call. */
export interface ChainAccessState extends AccessState {
  credentialAddress: string;
  balanceAddress: string;
}

/**
 * Reads a renter's access state from the chain; undefined when the listing has no account there. Where the chain has
 * several endpoints, two have to say the same about the access; of two balances the lower one counts.
 *
 * @throws ApiError `service_unavailable` when the chain is out of reach, or its endpoints do not agree.
 */
export async function readChainAccessState(
  chain: Pick<Chain, 'programId' | 'getAccountsOfTwo'>,
  listingId: string,
  wallet: string,
): Promise<ChainAccessState | undefined> {
  const buyer = new PublicKey(wallet);
  const listing = findListingAddress(listingId, chain.programId).address;
  const credential = findAccessCredentialAddress(buyer, listing, chain.programId).address;
  const balance = findPerQueryBalanceAddress(buyer, listing, chain.programId).address;
  const stateOf = (accounts: readonly (AccountInfo<Buffer> | null)[]): ChainAccessState | undefined => {
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
  };
  const addresses = [listing, credential, balance];
  let found = await chain.getAccountsOfTwo(addresses);
  const differ = () =>
    found.second && grantOf(stateOf(found.accounts)) !== grantOf(stateOf(found.second.accounts));
  // The second may merely be a slot behind.
  if (differ()) found = await chain.getAccountsOfTwo(addresses, found.slot);
  if (differ()) {
    throw new ApiError('service_unavailable', 'The RPC endpoints do not agree about this access.', {
      next: 'Try again.',
      retryAfterSeconds: 5,
    });
  }
  const first = stateOf(found.accounts);
  const second = found.second && stateOf(found.second.accounts);
  return second && balanceOf(second) < balanceOf(first) ? second : first;
}

/** The access that a state grants, for comparing two states. */
function grantOf(state: ChainAccessState | undefined): string {
  return state ? `${accessStatus(state, new Date())} ${state.listing.status}` : 'no listing';
}

const balanceOf = (state: ChainAccessState | undefined): bigint => state?.balance?.balanceLamports ?? 0n;

/** Data of an account that the program owns; lamports alone make no account. */
function dataOf(account: AccountInfo<Buffer> | null | undefined, programId: PublicKey): Buffer | undefined {
  return account?.owner.equals(programId) && account.data.length > 0 ? account.data : undefined;
}
