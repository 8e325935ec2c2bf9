import type { Chain } from '../../chain/index.js';
import type { Config } from '../../config/index.js';
import { StartError } from '../../platform/start-error.js';

/** Genesis hashes of the public clusters. */
const CLUSTERS = {
  '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d': 'mainnet',
  EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG: 'devnet',
} as const;

/**
 * Checks that an endpoint answers, that all are of one cluster, and that it is the one that SOLANA_NETWORK names.
 *
 * @throws StartError
 */
export async function requireCluster(
  chain: Pick<Chain, 'requireOneCluster'>,
  { network }: Pick<Config, 'network'>,
): Promise<void> {
  const genesis = await chain.requireOneCluster().catch((cause: unknown) => {
    throw new StartError(cause instanceof Error ? cause.message : String(cause), { cause });
  });
  const found = CLUSTERS[genesis as keyof typeof CLUSTERS];
  if (found === undefined || found === network) return;
  throw new StartError(
    `SOLANA_RPC_URLS names endpoints of ${found}, and SOLANA_NETWORK says ${network}. ` +
      `Set SOLANA_NETWORK=${found}, or name endpoints of ${network}.`,
  );
}
