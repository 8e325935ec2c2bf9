import { formatSol } from '@agent-rental/sdk';
import { reclaim } from '@agent-rental/sdk/solana';
import type { CliEnvironment } from '../cli-environment.js';
import { connect } from '../marketplace.js';
import type { MarketplaceOptions } from '../options.js';
import { report } from '../report.js';

/** `agent-rental reclaim`: takes a prepaid balance back. */
export async function reclaimCommand(
  listingId: string,
  options: MarketplaceOptions,
  environment: CliEnvironment,
): Promise<void> {
  const { signal } = environment;
  const { client, signer } = connect(options, environment);
  const { balance_lamports: balance = 0 } = await client.verifyCredential(listingId, { signal });
  const { signature } = await reclaim(client, signer, listingId, { signal });
  report(options, environment, { listing_id: listingId, returned_lamports: balance, signature }, [
    `${formatSol(balance)} of ${listingId} came back to the wallet.`,
  ]);
}
