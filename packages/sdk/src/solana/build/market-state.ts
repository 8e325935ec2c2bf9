import {
  decodeAccessCredential,
  decodeClock,
  decodeEscrow,
  decodeListing,
  decodePerQueryBalance,
  decodeProtocol,
  findAccessCredentialAddress,
  findEscrowAddress,
  findListingAddress,
  findPerQueryBalanceAddress,
  findProtocolAddress,
  type Listing,
  type Protocol,
} from '@agent-rental/program-client';
import { SYSVAR_CLOCK_PUBKEY, type Connection, type PublicKey } from '@solana/web3.js';
import { apiError, reach } from '../send/chain-errors.js';

/** Facts of a listing that a wallet needs for a transaction. */
export interface MarketState {
  protocol: Protocol;
  listing: Listing;
  /** Not withdrawn yet. */
  earningsLamports: bigint;
  /** The wallet's prepaid balance, and all lamports of its account. */
  balance: { balanceLamports: bigint; accountLamports: bigint } | undefined;
  /** The end of the wallet's subscription, in Unix seconds; null without one. */
  expiresAtSeconds: number | null;
  /** The chain's time, in Unix seconds. */
  nowSeconds: number;
}

type AccountReader = Pick<Connection, 'getMultipleAccountsInfo'>;

/**
 * Reads the protocol, a listing, a wallet's rental and the chain's time in one call.
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
    findAccessCredentialAddress(wallet, address, programId).address,
    SYSVAR_CLOCK_PUBKEY,
  ];
  const [protocol, listing, escrow, balance, credential, clock] = await readOwned(
    connection,
    addresses,
    programId,
  );
  // Check the protocol first: without one the program is wrong, not the listing.
  const config = protocolOf(protocol?.data, programId);
  if (!listing || !escrow) throw apiError('listing_not_found', `There is no listing ${listingId} on-chain.`);
  if (!clock) throw apiError('service_unavailable', 'The RPC endpoint has no clock of the chain.');
  const expiresAt = credential && decodeAccessCredential(credential.data).expiresAt;
  return {
    protocol: config,
    listing: decodeListing(listing.data),
    earningsLamports: decodeEscrow(escrow.data).earningsLamports,
    balance: balance && {
      balanceLamports: decodePerQueryBalance(balance.data).balanceLamports,
      accountLamports: BigInt(balance.lamports),
    },
    expiresAtSeconds: typeof expiresAt === 'bigint' ? Number(expiresAt) : null,
    nowSeconds: Number(decodeClock(clock.data)),
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
 * Reads accounts that the program owns, and the clock. Skips others: anyone can send lamports to an unused address. Reads
 * the newest block, which has the wallet's last action. The program checks every term again.
 */
async function readOwned(connection: AccountReader, addresses: PublicKey[], programId: PublicKey) {
  const accounts = await reach(() => connection.getMultipleAccountsInfo(addresses, 'processed'));
  return accounts.map((account, index) => {
    const isClock = addresses[index]?.equals(SYSVAR_CLOCK_PUBKEY);
    return account && account.data.length > 0 && (isClock || account.owner.equals(programId))
      ? account
      : undefined;
  });
}
