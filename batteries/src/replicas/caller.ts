import { createApiKey } from '@agent-rental/sdk/solana';
import type { Random } from '@agent-rental/test/support/random';
import type { MarketListing, ReplicaMarket } from '@agent-rental/test/support/replicas/replica-market';

/** A run as its caller asked for it, and all that it was told. */
export interface AskedRun {
  readonly body: { agent_id: string; task: string };
  readonly wallet: string;
  readonly listing: MarketListing;
  /** The Idempotency-Key; undefined: none. */
  readonly key: string | undefined;
  /** The name in its task. */
  readonly name: string;
  /** Its caller cancels it. */
  readonly isCancelled: boolean;
  /** How it was asked for. */
  readonly way: 'http' | 'stream' | 'async' | 'mcp';
  /** Answers with its end, of each time that it was asked for. */
  readonly told: ToldRun[];
}

/** The end of a run, as an answer has it. */
export interface ToldRun {
  readonly run_id: string;
  readonly status: string;
  readonly output: unknown;
  readonly cost_lamports: number;
}

/** A wallet with its rentals, which asks with its login and with an API key. */
export interface Caller {
  readonly wallet: string;
  readonly bearers: readonly string[];
  readonly listings: readonly MarketListing[];
  /** Runs that came to their end. */
  readonly done: AskedRun[];
  /** The session of its MCP client, once it has one. */
  mcpSession: string | undefined;
}

/** Makes a wallet that has rented the listings, with money for so many runs of each that is paid per task. */
export async function newCaller(
  market: ReplicaMarket,
  listings: readonly MarketListing[],
  runs: number,
): Promise<Caller> {
  const participant = await market.participant();
  const { wallet, token, signer, client } = participant;
  const { key } = await createApiKey(client, signer, 'battery');
  for (const listing of listings) await market.rent(participant, listing, runs);
  return {
    wallet: wallet.publicKey.toBase58(),
    bearers: [token, key],
    listings,
    done: [],
    mcpSession: undefined,
  };
}

/** The login or the API key, whichever. */
export const bearerOf = ({ bearers }: Caller, random: Random): string => random.pick(bearers);
