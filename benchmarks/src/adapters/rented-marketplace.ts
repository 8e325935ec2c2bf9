import type { BusyMarketplace } from '@agent-rental/test/support/busy-marketplace';
import { newParticipant } from '@agent-rental/test/support/participant';
import { newRenters, startMarket } from '../harness/market.js';
import { copyListings, rentCopies, reviseCopies } from './seed.js';

const PRICE_LAMPORTS = 2_000_000;

/** A wallet that has rented, and what lets a program act for it. */
export interface Caller {
  readonly baseUrl: string;
  readonly token: string;
}

/** A marketplace as `npm start` runs it. */
export interface RentedMarketplace {
  readonly mcpUrl: string;
  /** Wallets by how many typical listings they have rented. */
  readonly renters: ReadonlyMap<number, Caller>;
  /** Has rented one agent, which answers at once; it runs elsewhere, so that no sandbox is started. */
  readonly runner: Caller & { readonly agentId: string };
  /** Lets the typical listings change, so that nothing which was made of them is of use. */
  revise(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it, with wallets that have rented so many typical listings. */
export async function startRentedMarketplace(rentals: readonly number[]): Promise<RentedMarketplace> {
  const market = await startMarket();
  const { server, database } = market;
  try {
    const baseUrl = server.dev.base_url;
    // Per task, whose tools say the most: each names its price.
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
    // Paid for once: a run is as short as a run can be, and what a tool adds to it is the larger part.
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
