import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createClient, type RentalClient } from '@agent-rental/sdk';
import { keypairSigner, publish, rent } from '@agent-rental/sdk/solana';
import { vi } from 'vitest';
import type { Marketplace } from './marketplace.js';
import { newRenter, type Renter } from './renter.js';

/** Price of one run of a published agent, in lamports. */
export const PRICE = 250_000;

/** A wallet of the test's own with a client of its own. */
export interface Party extends Renter {
  address: string;
  client: RentalClient;
}

/** Makes a wallet with SOL and a client for it. */
export async function newParty(marketplace: Marketplace): Promise<Party> {
  const renter = await newRenter(marketplace);
  const signer = keypairSigner(renter.wallet);
  const client = createClient({ baseUrl: marketplace.dev.base_url, signer, retries: 0 });
  return { ...renter, client, address: renter.wallet.publicKey.toBase58() };
}

/** Rents a published agent, with money for `runs` runs. */
export async function rentAgent(party: Party, agentId: string, runs = 20): Promise<void> {
  const signer = keypairSigner(party.wallet);
  await rent(party.client, signer, agentId, { deposit_lamports: runs * PRICE });
}

/**
 * Publishes a Per-Task agent that does what a JavaScript program says, driven by the offline model of the examples
 * in a sandbox; gives its id. The program is the body of `async (input, task) => { ... }`.
 */
export async function publishAgent(
  marketplace: Marketplace,
  creator: Party,
  program: string,
): Promise<string> {
  const folder = join(marketplace.stateDir, 'examples');
  const { ports } = JSON.parse(await readFile(join(folder, 'state.json'), 'utf8')) as {
    ports: Record<string, number>;
  };
  const model = 'offline-example-model';
  const registered = await creator.client.registerAgent({
    name: `test-agent-${randomUUID().slice(0, 4)}`,
    category: 'research',
    description: 'Does what a test says.',
    model: { provider: 'self_hosted', model, endpoint_url: `http://127.0.0.1:${ports[model]}/v1` },
    model_key: (await readFile(join(folder, 'offline-model.key'), 'utf8')).trim(),
    system_prompt: `Call run_javascript with this program.\n\`\`\`js\n${program}\n\`\`\``,
    tools: [{ name: 'run_javascript', scope: 'input_only' }],
    input_schema: {},
    output_schema: { type: 'object' },
    listing: { rental_model: 'per_query', price_lamports: PRICE, min_deposit_lamports: PRICE },
  });
  const job = await vi.waitUntil(async () => {
    const state = await creator.client.getJob(registered.job_id);
    return state.status === 'queued' ? undefined : state;
  });
  if (!job.result) throw new Error(JSON.stringify(job.error));
  await publish(creator.client, keypairSigner(creator.wallet), job.result.listing_id);
  return job.result.listing_id;
}
