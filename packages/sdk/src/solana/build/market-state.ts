import {
  decodeEscrow,
  decodeListing,
  decodePerQueryBalance,
  decodeProtocol,
  findEscrowAddress,
  findListingAddress,
  findPerQueryBalanceAddress,
  findProtocolAddress,
  type Listing,
  type Protocol,
} from '@agent-rental/program-client';
import type { Connection, PublicKey } from '@solana/web3.js';
import { apiError, reach } from '../send/chain-errors.js';

/** Facts of a listing that a wallet needs for a transaction. */
export interface MarketState {
  protocol: Protocol;
  listing: Listing;
  /** Not withdrawn yet. */
  earningsLamports: bigint;
  /** The wallet's prepaid balance, and all lamports of its account. */
  balance: { balanceLamports: bigint; accountLamports: bigint } | undefined;
}

type AccountReader = Pick<Connection, 'getMultipleAccountsInfo'>;

/**
 * Reads the protocol, a listing and a wallet's balance in one call.
 *
 * @throws ApiError `listing_not_found`, `service_unavailable` without a protocol; ConnectionError.
 */
export async function readMarketState(
  connection: AccountReader,
  listingId: string,
  wallet: PublicKey,
  programId: PublicKey,
): Promise<MarketState> {
  const address = findListingAddress(listingId, programId).address;
  const addresses = [
    findProtocolAddress(programId).address,
    address,
    findEscrowAddress(address, programId).address,
    findPerQueryBalanceAddress(wallet, address, programId).address,
  ];
  const [protocol, listing, escrow, balance] = await readOwned(connection, addresses, programId);
  // Check the protocol first: without one the program is wrong, not the listing.
  const config = protocolOf(protocol?.data, programId);
  if (!listing || !escrow) throw apiError('listing_not_found', `There is no listing ${listingId} on-chain.`);
  return {
    protocol: config,
    listing: decodeListing(listing.data),
    earningsLamports: decodeEscrow(escrow.data).earningsLamports,
    balance: balance && {
      balanceLamports: decodePerQueryBalance(balance.data).balanceLamports,
      accountLamports: BigInt(balance.lamports),
    },
  };
}

/** Reads the protocol's configuration. @throws ApiError `service_unavailable`, ConnectionError. */
export async function readProtocol(connection: AccountReader, programId: PublicKey): Promise<Protocol> {
  const [protocol] = await readOwned(connection, [findProtocolAddress(programId).address], programId);
  return protocolOf(protocol?.data, programId);
}

function protocolOf(data: Uint8Array | undefined, programId: PublicKey): Protocol {
  if (data) return decodeProtocol(data);
  const program = programId.toBase58();
  throw apiError(
    'service_unavailable',
    `The marketplace program ${program} is not initialised on this network. If the marketplace has another program, ` +
      'set its address as programId.',
  );
}

/**
 * Reads accounts that the program owns. Skips others: anyone can send lamports to an unused address. Reads the newest block, which
 * has the wallet's last action. The program checks every term again.
 */
async function readOwned(connection: AccountReader, addresses: PublicKey[], programId: PublicKey) {
  const accounts = await reach(() => connection.getMultipleAccountsInfo(addresses, 'processed'));
  return accounts.map((account) =>
    account?.owner.equals(programId) && account.data.length > 0 ? account : undefined,
  );
}
