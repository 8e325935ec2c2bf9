import { createApiKey } from '@agent-rental/sdk/solana';
import { inParallel } from '@agent-rental/test/support/timing/in-parallel';
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

/** A wallet with rentals. An API key sees its own runs alone, so each caller has one bearer. */
export interface Caller {
  /** The wallet's login token, or its API key. */
  readonly bearer: string;
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
  let made = 0;
  return inParallel(Array(wallets), 6, async () => {
    const participant = await market.participant();
    const { token, signer, client } = participant;
    made += 1;
    const bearer = made % 2 === 0 ? token : (await createApiKey(client, signer, 'battery')).key;
    for (const listing of listings)
      await market.rent(participant, listing, Math.ceil(requests / wallets) + 60);
    return { bearer, listings, done: [], mcpSession: undefined };
  });
}
