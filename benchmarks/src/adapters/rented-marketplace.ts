import type { BusyMarketplace } from '@agent-rental/test/support/busy-marketplace';
import { newParticipant } from '@agent-rental/test/support/participant';
import { newRenters, startMarket } from '../harness/market.js';
import { copyListings, rentCopies, reviseCopies } from './seed.js';

const PRICE_LAMPORTS = 2_000_000;

/** A wallet's login. */
export interface Caller {
  readonly baseUrl: string;
  readonly token: string;
}

/** A marketplace like `npm start`'s. */
export interface RentedMarketplace {
  readonly mcpUrl: string;
  /** Wallets by their number of rented typical listings. */
  readonly renters: ReadonlyMap<number, Caller>;
  /** A wallet with one rented agent, which answers at once and needs no sandbox. */
  readonly runner: Caller & { readonly agentId: string };
  /** Changes the typical listings, so that clients cannot reuse their tools. */
  revise(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the marketplace, with one wallet for each number of rentals. */
export async function startRentedMarketplace(rentals: readonly number[]): Promise<RentedMarketplace> {
  const market = await startMarket();
  const { server, database } = market;
  try {
    const baseUrl = server.dev.base_url;
    // Per-Task listings have the longest tools, with their prices.
    const template = await publishAgent(market, 'per_query');
    const terms = { deposit_lamports: 10 * PRICE_LAMPORTS };
    const [holder] = await newRenters(market, 1, { [template]: terms });
    await copyListings(database, template, Math.max(...rentals));
    const renters = new Map<number, Caller>();
    for (const count of rentals) {
      const { token, signer } = await newParticipant(server);
      await rentCopies(database, holder?.signer.address ?? '', signer.address, count);
      renters.set(count, { baseUrl, token });
    }
    await database.query('analyze');
    // A one-time rental has the shortest runs, so that the tool's share of the time is large.
    const agentId = await publishAgent(market, 'one_time');
    const [runner] = await newRenters(market, 1, { [agentId]: { max_price_lamports: PRICE_LAMPORTS } });
    let revision = 0;
    return {
      mcpUrl: server.dev.mcp_url,
      renters,
      runner: { baseUrl, token: runner?.token ?? '', agentId },
      revise: async () => reviseCopies(database, ++revision),
      stop: () => market.close(),
    };
  } catch (error) {
    await market.close();
    throw error;
  }
}

function publishAgent(market: BusyMarketplace, rental_model: 'one_time' | 'per_query'): Promise<string> {
  const listing = { rental_model, price_lamports: PRICE_LAMPORTS, sample_output: ['A sample.'] };
  return market.publish('connected', 'quick-agent', { description: 'Answers at once.', listing });
}
