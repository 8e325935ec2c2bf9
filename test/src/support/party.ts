import { createClient, type RentalClient } from '@agent-rental/sdk';
import * as api from '@agent-rental/sdk/solana';
import type { Connection, PublicKey } from '@solana/web3.js';
import { expect, vi } from 'vitest';
import type { Marketplace } from './marketplace.js';
import { newRenter, type Renter } from './renter.js';

/** One wallet and both its ways to act: through the API, and with an RPC endpoint alone. */
export interface Party extends Renter {
  signer: api.WalletSigner;
  client: RentalClient;
  address: PublicKey;
}

export type Terms = NonNullable<api.PublishTerms['listing']>;

/** A funded wallet that has rented and published nothing. */
export async function newMarketParty(marketplace: Marketplace): Promise<Party> {
  const renter = await newRenter(marketplace);
  const signer = api.keypairSigner(renter.wallet);
  const client = createClient({ baseUrl: marketplace.dev.base_url, signer });
  return { ...renter, signer, client, address: renter.wallet.publicKey };
}

/** Registers an agent that nobody runs, and publishes it. */
export async function publishIdleListing(
  { client, signer }: Party,
  connection: Connection,
  terms: Terms,
): Promise<string> {
  const { job_id } = await client.registerAgent({
    name: 'transaction-example',
    category: 'research',
    description: 'Stands for sale in the tests of transactions.',
    model: { provider: 'openai', model: 'none' },
    model_key: 'x',
    system_prompt: 'Say nothing.',
    input_schema: { type: 'string' },
    output_schema: { type: 'string' },
  });
  const job = await vi.waitFor(
    async () => {
      const found = await client.getJob(job_id);
      expect(found.status).toBe('completed');
      return found;
    },
    { timeout: 20_000, interval: 100 },
  );
  const id = job.result?.listing_id ?? '';
  // The terms come with the publish request: the wallet sees them in what it signs.
  await api.publish(client, signer, id, { connection, listing: terms });
  return id;
}
