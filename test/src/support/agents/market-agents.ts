import { findListingAddress, findPerQueryBalanceAddress } from '@agent-rental/program-client';
import { rent, type RentTerms } from '@agent-rental/sdk/solana';
import type { Keypair, PublicKey } from '@solana/web3.js';
import type { Participant } from '../participant.js';
import type { Renter } from '../renter.js';
import { publishAgent } from './agents.js';

/** An agent that its creator runs, or one that a sandbox runs. */
export type AgentKind = 'connected' | 'declarative';

/** A listing, with its account's address and the wallet that sells it. */
export interface SoldListing {
  readonly id: string;
  readonly address: PublicKey;
  readonly creator: Keypair;
}

/** A wallet's rental of a listing. */
export interface Rental<Listing extends Pick<SoldListing, 'id' | 'address'> = SoldListing> {
  readonly renter: Renter;
  readonly listing: Listing;
  readonly wallet: string;
  readonly balanceAddress: PublicKey;
  /** 0 for a rental that is not paid per task. */
  readonly depositLamports: bigint;
}

/**
 * Puts an agent on sale. Its runs are paid per task, unless `fields` say otherwise.
 *
 * @param url of a connected agent, or of the model of a declarative one
 */
export async function sellAgent(
  creator: Participant,
  kind: AgentKind,
  url: string,
  fields: Record<string, unknown> = {},
): Promise<SoldListing> {
  const id = await publishAgent(creator, {
    name: 'sold-agent',
    category: 'research',
    description: 'Takes its time.',
    model: { provider: 'self_hosted', model: 'stand-in', endpoint_url: url },
    ...(kind === 'connected' ? { entrypoint_url: url } : { system_prompt: 'You answer.' }),
    input_schema: {},
    output_schema: { type: 'string' },
    ...fields,
    listing: { rental_model: 'per_query', sample_output: ['A sample.'], ...Object(fields['listing']) },
  });
  return { id, address: findListingAddress(id).address, creator: creator.wallet };
}

/** Rents a listing for a wallet. */
export async function rentListing<Listing extends Pick<SoldListing, 'id' | 'address'>>(
  { client, signer, ...renter }: Participant,
  listing: Listing,
  terms: RentTerms,
): Promise<Rental<Listing>> {
  await rent(client, signer, listing.id, terms);
  const { publicKey } = renter.wallet;
  return {
    renter,
    listing,
    wallet: publicKey.toBase58(),
    balanceAddress: findPerQueryBalanceAddress(publicKey, listing.address).address,
    depositLamports: BigInt(terms.deposit_lamports ?? 0),
  };
}
