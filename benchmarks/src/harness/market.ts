import { rent, type RentTerms } from '@agent-rental/sdk/solana';
import { startBusyMarketplace, type BusyMarketplace } from '@agent-rental/test/support/busy-marketplace';
import { newParticipant, type Participant } from '@agent-rental/test/support/participant';

/** Starts a marketplace with production settings and without reachable rate limits. */
export function startMarket(
  env: Record<string, string> = {},
  onAgentRequest?: Parameters<typeof startBusyMarketplace>[1],
): Promise<BusyMarketplace> {
  return startBusyMarketplace(
    {
      NODE_ENV: 'production',
      SANDBOX_MIN_ISOLATION: 'runtime',
      ...env,
    },
    onAgentRequest,
  );
}

/** New wallets that have rented listings on these terms. */
export async function newRenters(
  { server }: Pick<BusyMarketplace, 'server'>,
  count: number,
  listings: Readonly<Record<string, RentTerms>>,
): Promise<Participant[]> {
  const renters: Participant[] = [];
  while (renters.length < count) {
    const renter = await newParticipant(server);
    for (const [id, terms] of Object.entries(listings)) await rent(renter.client, renter.signer, id, terms);
    renters.push(renter);
  }
  return renters;
}
