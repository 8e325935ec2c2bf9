import { createApiKey } from '@agent-rental/sdk/solana';
import { inParallel } from '@agent-rental/test/support/timing/in-parallel';
import type { Random } from '@agent-rental/test/support/random';
import type { MarketListing, ReplicaMarket } from '@agent-rental/test/support/replicas/replica-market';

/** A requested run and its answers. */
export interface AskedRun {
  readonly body: { agent_id: string; task: string };
  /** The Idempotency-Key; undefined: none. */
  readonly key: string | undefined;
  readonly name: string;
  readonly isCancelled: boolean;
  readonly way: 'http' | 'stream' | 'async' | 'mcp';
  /** The answers with its result, one per request. */
  readonly told: ToldRun[];
}

export interface ToldRun {
  readonly run_id: string;
  readonly status: string;
  readonly output: unknown;
  readonly cost_lamports: number;
}

/** A wallet with rentals, a login token and an API key. */
export interface Caller {
  readonly bearers: readonly string[];
  readonly listings: readonly MarketListing[];
  readonly done: AskedRun[];
  /** The session of its MCP client, after the first call. */
  mcpSession: string | undefined;
}

/** Makes wallets and rents the listings. They pay for more runs than their shares of the requests. */
export function newCallers(
  market: ReplicaMarket,
  listings: readonly MarketListing[],
  { requests, wallets }: { requests: number; wallets: number },
): Promise<Caller[]> {
  return inParallel(Array(wallets), 6, async () => {
    const participant = await market.participant();
    const { token, signer, client } = participant;
    const { key } = await createApiKey(client, signer, 'battery');
    for (const listing of listings)
      await market.rent(participant, listing, Math.ceil(requests / wallets) + 60);
    return { bearers: [token, key], listings, done: [], mcpSession: undefined };
  });
}

export const bearerOf = ({ bearers }: Caller, random: Random): string => random.pick(bearers);
