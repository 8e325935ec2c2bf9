import { createClient } from '@agent-rental/sdk';
import { keypairSigner, publish, rent } from '@agent-rental/sdk/solana';
import { findListingAddress, findPerQueryBalanceAddress } from '@agent-rental/program-client';
import type { SlowAgents } from '@agent-rental/test/support/agents/slow-agents';
import { until } from '@agent-rental/test/support/busy-marketplace';
import { newRenter, type Renter } from '@agent-rental/test/support/renter';
import { RUN_PRICE, type Listing, type Rental } from '../world/market.js';
import type { Stack } from './stacks/stack.js';

/** Runs that a renter pays for in advance. */
const DEPOSIT_RUNS = 400n;
/** Price of a rental whose runs cost nothing, in lamports. */
export const ONE_TIME_PRICE = 1_000_000n;

const KINDS = ['connected', 'declarative'] as const;
const MODELS = ['per_query', 'one_time'] as const;
export type AgentKind = (typeof KINDS)[number];
export type RentalModel = (typeof MODELS)[number];

/** Listings by how their agent is run and how its runs are paid: per task, or by the rental. */
export type OnSale = Readonly<Record<AgentKind, Readonly<Record<RentalModel, Listing>>>>;

/** Puts one listing of each sort on sale, of one creator. */
export async function putOnSale(stack: Stack, agents: SlowAgents): Promise<OnSale> {
  const creator = await newRenter(stack);
  const signer = keypairSigner(creator.wallet);
  const client = createClient({ baseUrl: stack.dev.base_url, signer });
  const one = async (kind: AgentKind, rental_model: RentalModel): Promise<Listing> => {
    const url = kind === 'connected' ? agents.agentUrl : agents.modelUrl;
    const { job_id } = await client.registerAgent({
      name: `${kind}-${rental_model.replace('_', '-')}`,
      category: 'research',
      description: 'Takes its time.',
      model: { provider: 'self_hosted', model: 'stand-in', endpoint_url: url },
      ...(kind === 'connected' ? { entrypoint_url: url } : { system_prompt: 'You answer.' }),
      input_schema: {},
      output_schema: { type: 'string' },
      listing: {
        rental_model,
        price_lamports: Number(rental_model === 'per_query' ? RUN_PRICE : ONE_TIME_PRICE),
        sample_output: ['A sample.'],
      },
    });
    const id = await until(async () => {
      const job = await client.getJob(job_id);
      if (job.status === 'failed') throw new Error(JSON.stringify(job.error));
      return job.result?.listing_id;
    });
    await publish(client, signer, id);
    return { id, versionId: '', address: findListingAddress(id).address, creator: creator.wallet };
  };
  const both = async (kind: AgentKind) => ({
    per_query: await one(kind, 'per_query'),
    one_time: await one(kind, 'one_time'),
  });
  return { connected: await both('connected'), declarative: await both('declarative') };
}

/** Makes a wallet that has rented the listing. */
export async function rentOne(stack: Stack, listing: Listing, model: RentalModel): Promise<Rental> {
  const renter: Renter = await newRenter(stack);
  const signer = keypairSigner(renter.wallet);
  const client = createClient({ baseUrl: stack.dev.base_url, signer });
  const depositLamports = model === 'per_query' ? DEPOSIT_RUNS * RUN_PRICE : 0n;
  await rent(
    client,
    signer,
    listing.id,
    model === 'per_query'
      ? { deposit_lamports: Number(depositLamports) }
      : { max_price_lamports: Number(ONE_TIME_PRICE) },
  );
  const { publicKey } = renter.wallet;
  return {
    renter,
    listing,
    wallet: publicKey.toBase58(),
    balanceAddress: findPerQueryBalanceAddress(publicKey, listing.address).address,
    depositLamports,
  };
}
