import type { SlowAgents } from '@agent-rental/test/support/agents/slow-agents';
import {
  rentListing,
  sellAgent,
  type AgentKind,
  type Rental,
  type SoldListing,
} from '@agent-rental/test/support/agents/market-agents';
import { newParticipant } from '@agent-rental/test/support/participant';
import { RUN_PRICE } from '../world/market.js';
import type { Stack } from './stacks/stack.js';

const DEPOSIT_RUNS = 400n;
/** Price of a one-time rental, in lamports. Its runs cost nothing. */
export const ONE_TIME_PRICE = 1_000_000n;

export type RentalModel = 'per_query' | 'one_time';

export type OnSale = Readonly<Record<AgentKind, Readonly<Record<RentalModel, SoldListing>>>>;

export async function putOnSale(stack: Stack, { agentUrl, modelUrl }: SlowAgents): Promise<OnSale> {
  const creator = await newParticipant(stack);
  const one = (kind: AgentKind, rental_model: RentalModel) => {
    const price = rental_model === 'per_query' ? RUN_PRICE : ONE_TIME_PRICE;
    return sellAgent(creator, kind, kind === 'connected' ? agentUrl : modelUrl, {
      name: `${kind}-${rental_model.replace('_', '-')}`,
      listing: { rental_model, price_lamports: Number(price) },
    });
  };
  const both = async (kind: AgentKind) => {
    return { per_query: await one(kind, 'per_query'), one_time: await one(kind, 'one_time') };
  };
  return { connected: await both('connected'), declarative: await both('declarative') };
}

export async function rentOne(stack: Stack, listing: SoldListing, model: RentalModel): Promise<Rental> {
  const deposit = { deposit_lamports: Number(DEPOSIT_RUNS * RUN_PRICE) };
  const terms = model === 'per_query' ? deposit : { max_price_lamports: Number(ONE_TIME_PRICE) };
  return rentListing(await newParticipant(stack), listing, terms);
}
