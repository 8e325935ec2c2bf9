import type { Job, Json } from '@agent-rental/contract';
import { isApiError, type RentalClient } from '@agent-rental/sdk';
import { publish, type WalletSigner } from '@agent-rental/sdk/solana';
import { sampleInput, type ExampleAgent, type ManifestDraft } from '../agents/index.js';
import type { ExamplesFolder } from './examples-folder.js';
import { waitFor } from './wait-for.js';

/** Longest sample output that a listing may show. */
const SAMPLE_OUTPUT_CHARACTERS = 4_000;

/** An agent on its way to being a listing. */
export interface Publication {
  agent: ExampleAgent;
  manifest: ManifestDraft;
  modelKey?: string | undefined;
  /** Under which the registration is remembered. */
  registrationKey: string;
  /** Told the secret that signs the calls to a connected agent; kept before the promise resolves. */
  onWebhookSecret(secret: string): Promise<void>;
}

/**
 * Makes sure that an agent is published, and gives the id of its listing. The marketplace knows the progress of an earlier
 * attempt, so finished steps are not repeated.
 *
 * @throws Error when the manifest or the review refuses the agent.
 */
export async function ensurePublished(
  creator: { client: RentalClient; signer: WalletSigner },
  folder: ExamplesFolder,
  publication: Publication,
): Promise<{ listingId: string; isNew: boolean }> {
  const { client, signer } = creator;
  const { agent } = publication;
  const { registrations } = folder.state;
  const key = publication.registrationKey;
  const known = registrations[key]?.listing_id;
  if (known !== undefined && (await unlessNotFound(client.getListing(known))) !== undefined) {
    return { listingId: known, isNew: false };
  }
  let jobId = registrations[key]?.job_id;
  let job = jobId === undefined ? undefined : await unlessNotFound(reviewedJob(client, jobId, agent.name));
  // A server that was stopped goes on with its jobs before it is told of these addresses, and then refuses them.
  if (jobId === undefined || job === undefined || job.status === 'failed') {
    jobId = await register(client, publication);
    registrations[key] = { job_id: jobId };
    await folder.saveState();
    job = await reviewedJob(client, jobId, agent.name);
  }
  const listingId = approvedListing(job, agent.name);
  registrations[key] = { job_id: jobId, listing_id: listingId };
  await folder.saveState();
  // An attempt that ended after its transaction landed, but before it was written down here, ends up here.
  if ((await unlessNotFound(client.getListing(listingId))) === undefined) {
    await publish(client, signer, listingId).catch(async (error: unknown) => {
      if (!isApiError(error)) throw error;
      // A model that is away at the first start must not keep the marketplace from starting.
      await publish(client, signer, listingId, { unverified: true });
    });
  }
  return { listingId, isNew: true };
}

async function register(client: RentalClient, publication: Publication): Promise<string> {
  const { agent, manifest, modelKey } = publication;
  const input = await sampleInput(agent);
  const sample = JSON.stringify(agent.answer(input));
  const listing = { ...agent.terms, sample_input: input, sample_output: [shorten(sample)] };
  const body = {
    ...manifest,
    listing: listing as Json,
    ...(modelKey !== undefined && { model_key: modelKey }),
  };
  const answer = await client.registerAgent(body);
  if (answer.webhook_secret !== undefined) await publication.onWebhookSecret(answer.webhook_secret);
  return answer.job_id;
}

function shorten(text: string): string {
  return text.length <= SAMPLE_OUTPUT_CHARACTERS ? text : `${text.slice(0, SAMPLE_OUTPUT_CHARACTERS - 1)}…`;
}

/** The job of a registration, once its review is decided or it has failed. */
function reviewedJob(client: RentalClient, jobId: string, agent: string): Promise<Job> {
  return waitFor(`the review of ${agent}`, async () => {
    const job = await client.getJob(jobId);
    const isDecided = job.status === 'completed' && job.review?.state !== 'pending';
    return isDecided || job.status === 'failed' ? job : undefined;
  });
}

function approvedListing({ status, error, review, result }: Job, agent: string): string {
  if (status === 'failed') throw new Error(`The manifest of ${agent} was refused: ${describe(error)}`);
  if (review?.state === 'rejected' || result === undefined)
    throw new Error(`The review refused ${agent}: ${(review?.reasons ?? []).join('; ')}`);
  return result.listing_id;
}

function describe(error: Job['error']): string {
  const details = (error?.details ?? []).map(({ path, message }) => `${path} ${message}`);
  return [error?.message ?? 'no reason given', ...details].join('; ');
}

/** The answer, or undefined when the API says that there is no such thing. */
async function unlessNotFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isApiError(error) && error.status === 404) return undefined;
    throw error;
  }
}
