import { createFunds, createPriorityFees, createProtocolReader } from '../chain/index.js';
import type { AppParts } from './app-parts.js';

/** The protocol's accounts and the fees of transactions that the authority signs. */
export type Protocol = Awaited<ReturnType<typeof composeProtocol>>;

/**
 * Composes what reads the protocol's accounts.
 *
 * @throws Error when the authority's key is not one of the protocol's authorities.
 */
export async function composeProtocol({ chain, authority, config, logger }: AppParts) {
  const protocol = createProtocolReader(chain, Date.now, ({ authorities }) => authority.accept(authorities));
  const requireAuthority = async (): Promise<void> => {
    const { authorities } = await protocol.refreshed();
    if (authorities.some((key) => key.equals(authority.publicKey))) return;
    throw new Error(`The authority key ${authority.publicKey.toBase58()} is not the protocol's.`);
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
