import { createClient, type RentalClient } from '@agent-rental/sdk';
import { keypairSigner, publish, type WalletSigner } from '@agent-rental/sdk/solana';
import { Connection, Keypair, LAMPORTS_PER_SOL } from '@solana/web3.js';
import { vi } from 'vitest';
import type { Dev } from './marketplace.js';

type Job = Awaited<ReturnType<RentalClient['getJob']>>;

/** Somebody with a wallet, SOL and a client. */
export interface Participant {
  readonly wallet: Keypair;
  readonly signer: WalletSigner;
  readonly client: RentalClient;
}

/** Makes a participant, of a new wallet. Its client tries nothing twice: the tests look at each answer. */
export async function newParticipant(dev: Pick<Dev, 'base_url' | 'rpc_url'>): Promise<Participant> {
  const wallet = Keypair.generate();
  const connection = new Connection(dev.rpc_url, 'confirmed');
  const signature = await connection.requestAirdrop(wallet.publicKey, LAMPORTS_PER_SOL);
  await connection.confirmTransaction({ signature, ...(await connection.getLatestBlockhash()) });
  const signer = keypairSigner(wallet);
  return { wallet, signer, client: createClient({ baseUrl: dev.base_url, signer, retries: 0 }) };
}

/** Waits for the end of a job. */
export async function jobEnd(client: RentalClient, jobId: string): Promise<Job> {
  return vi.waitUntil(
    async () => {
      const job = await client.getJob(jobId);
      return job.status === 'queued' ? undefined : job;
    },
    { timeout: 20_000 },
  );
}

/** Registers an agent and puts it on sale; gives the listing's id. */
export async function publishAgent(
  { client, signer }: Participant,
  body: Parameters<RentalClient['registerAgent']>[0],
): Promise<string> {
  const job = await jobEnd(client, (await client.registerAgent(body)).job_id);
  if (!job.result) throw new Error(JSON.stringify(job.error));
  await publish(client, signer, job.result.listing_id);
  return job.result.listing_id;
}

/** The manifest of an agent that answers in text, with a model at that address. */
export function textAgent(modelUrl: string, fields: Record<string, unknown> = {}) {
  return {
    name: 'text-agent',
    category: 'research',
    description: 'Answers in text.',
    model: { provider: 'self_hosted', model: 'stand-in', endpoint_url: modelUrl },
    system_prompt: 'You answer.',
    input_schema: { type: 'object' },
    output_schema: { type: 'string' },
    listing: { rental_model: 'per_query', price_lamports: 250_000 },
    ...fields,
  };
}
