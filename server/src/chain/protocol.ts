import { decodeProtocol, findProtocolAddress } from '@agent-rental/program-client';
import type { PublicKey } from '@solana/web3.js';
import type { Chain } from './chain.js';

/** What the server needs of the protocol's on-chain configuration. */
export interface ProtocolTerms {
  treasury: PublicKey;
  /** Keys that the program accepts as its hot authority. */
  authorities: PublicKey[];
  minQueryPriceLamports: bigint;
}

/**
 * Reads the protocol's configuration.
 *
 * @throws Error when the program has not been initialised.
 */
export async function readProtocol(chain: Chain): Promise<ProtocolTerms> {
  const address = findProtocolAddress(chain.programId).address;
  const { accounts } = await chain.getAccounts([address]);
  const account = accounts[0];
  if (!account?.owner.equals(chain.programId)) {
    throw new Error(
      `The marketplace program ${chain.programId.toBase58()} is not initialised on this network. ` +
        'Deploy it and send initialize_protocol first.',
    );
  }
  const protocol = decodeProtocol(account.data);
  return {
    treasury: protocol.treasury,
    authorities: [protocol.authority, ...(protocol.nextAuthority ? [protocol.nextAuthority] : [])],
    minQueryPriceLamports: protocol.minQueryPriceLamports,
  };
}
