import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RentalClient } from '@agent-rental/sdk';
import { publish, rent, type PublishTerms } from '@agent-rental/sdk/solana';
import type { Connection } from '@solana/web3.js';
import { until } from '../timing/until.js';
import type { Marketplace } from '../marketplace.js';
import type { Participant } from '../participant.js';

type Job = Awaited<ReturnType<RentalClient['getJob']>>;
type Registration = Parameters<RentalClient['registerAgent']>[0];

/** The terms of a listing on sale. */
export type Terms = NonNullable<PublishTerms['listing']>;

/** How long a job may take on a busy machine. */
const JOB_MS = 20_000;

/** Price of one run of an agent that a test publishes, in lamports. */
export const PRICE = 250_000;

/** Waits for the end of a job. */
export async function jobEnd(client: RentalClient, jobId: string): Promise<Job> {
  return until(async () => {
    const job = await client.getJob(jobId);
    return job.status === 'queued' ? undefined : job;
  }, JOB_MS);
}

/** Registers an agent, waits for the job, and gives the listing's id. */
async function register({ client }: Participant, body: Registration): Promise<string> {
  const job = await jobEnd(client, (await client.registerAgent(body)).job_id);
  if (!job.result) throw new Error(JSON.stringify(job.error));
  return job.result.listing_id;
}

/** Registers an agent and puts it on sale; gives the listing's id. */
export async function publishAgent(
  creator: Participant,
  body: Registration,
  options: Pick<PublishTerms, 'unverified'> = {},
): Promise<string> {
  const id = await register(creator, body);
  await publish(creator.client, creator.signer, id, options);
  return id;
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
    // The sample is needed: without one, the review would run the agent.
    listing: { rental_model: 'per_query', price_lamports: PRICE, sample_output: ['An answer.'] },
    ...fields,
  };
}

/** The parts of a published agent beside its program. */
export interface PublishedProgram {
  listing?: { sample_input?: string; sample_output?: string[]; free_trial?: boolean | 'renters' };
  /** Beside `run_javascript`. */
  tools?: { name: string; scope: string }[];
  /** Absent: it takes anything. */
  input_schema?: Record<string, unknown>;
}

/** The offline model of the examples, and its key, as a registration names them. */
export async function offlineModel(marketplace: Marketplace) {
  const folder = join(marketplace.stateDir, 'examples');
  const { ports } = JSON.parse(await readFile(join(folder, 'state.json'), 'utf8')) as {
    ports: Record<string, number>;
  };
  const model = 'offline-example-model';
  return {
    model: { provider: 'self_hosted', model, endpoint_url: `http://127.0.0.1:${ports[model]}/v1` },
    model_key: (await readFile(join(folder, 'offline-model.key'), 'utf8')).trim(),
  };
}

/**
 * Publishes a Per-Task agent that runs a JavaScript program in a sandbox; gives its id. The offline model of the examples
 * drives it. The program is the body of `async (input, task) => { ... }`. Without a sample output, the review also runs
 * it.
 */
export async function publishProgram(
  marketplace: Marketplace,
  creator: Participant,
  program: string,
  { listing = { sample_output: ['{}'] }, tools = [], input_schema = {} }: PublishedProgram = {},
): Promise<string> {
  return publishAgent(creator, {
    name: `test-agent-${randomUUID().slice(0, 4)}`,
    category: 'research',
    description: 'Does the work of a test.',
    ...(await offlineModel(marketplace)),
    system_prompt: `Call run_javascript with this program.\n\`\`\`js\n${program}\n\`\`\``,
    tools: [{ name: 'run_javascript', scope: 'input_only' }, ...tools],
    input_schema,
    output_schema: { type: 'object' },
    listing: { rental_model: 'per_query', price_lamports: PRICE, min_deposit_lamports: PRICE, ...listing },
  });
}

/** Registers an agent that is never run, and publishes it. */
export async function publishIdleListing(
  creator: Participant,
  connection: Connection,
  terms: Terms,
): Promise<string> {
  const id = await register(creator, {
    name: 'transaction-example',
    category: 'research',
    description: 'A listing that the tests of transactions use.',
    model: { provider: 'openai', model: 'none' },
    system_prompt: 'Say nothing.',
    input_schema: { type: 'string' },
    output_schema: { type: 'string' },
  });
  // The publish request carries the terms: the wallet sees them when it signs.
  await publish(creator.client, creator.signer, id, {
    connection,
    // Its model cannot be reached.
    unverified: true,
    listing: { sample_output: ['An answer.'], ...terms },
  });
  return id;
}

/** Rents a published agent, with money for `runs` runs. */
export async function rentAgent(renter: Participant, agentId: string, runs = 20): Promise<void> {
  await rent(renter.client, renter.signer, agentId, { deposit_lamports: runs * PRICE });
}
