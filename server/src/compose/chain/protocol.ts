import { createFunds, createPriorityFees, createProtocolReader } from '../../chain/index.js';
import { StartError } from '../../platform/start-error.js';
import type { AppParts } from '../app-parts.js';

/** The protocol's accounts and the fees of transactions that the authority signs. */
export type Protocol = Awaited<ReturnType<typeof composeProtocol>>;

/**
 * Composes the reader of the protocol's accounts.
 *
 * @throws StartError when the program is not initialised on this network, or the authority's key is not one of its authorities.
 */
export async function composeProtocol({ chain, authority, config, logger }: AppParts) {
  const protocol = createProtocolReader(chain, Date.now, ({ authorities }) => authority.accept(authorities));
  const requireAuthority = async (): Promise<void> => {
    const { authorities } = await protocol.refreshed();
    if (authorities.some((key) => key.equals(authority.publicKey))) return;
    throw new StartError(
      `The authority's key ${authority.publicKey.toBase58()} is not one that the program ${chain.programId.toBase58()} ` +
        `accepts (${authorities.map((key) => key.toBase58()).join(', ')}). Name the keypair of one of them in ` +
        'AUTHORITY_KEYPAIR, its public key in AUTHORITY_PUBLIC_KEY, or correct PROGRAM_ID.',
    );
  };
  await requireAuthority();
  const funds = createFunds({
    chain,
    authority,
    protocol,
    reserveLamports: config.authorityReserveLamports,
    logger,
  });
  await funds.read();
  return {
    protocol,
    requireAuthority,
    funds,
    fees: createPriorityFees(chain, config.maxPriorityFeeLamports),
  };
}
