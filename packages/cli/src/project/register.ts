import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OPTIONAL_MANIFEST_FIELDS, WEBHOOK_SECRET_FILE } from '@agent-rental/sdk/creator';
import { updateAgent } from '@agent-rental/sdk/solana';
import type { CliEnvironment } from '../cli-environment.js';
import { CommandError } from '../errors.js';
import type { Connected } from '../marketplace.js';
import { writtenFault } from '../words.js';
import type { AgentProject } from './agent-file.js';

const POLL_MS = 400;

/** The end of a registration's or an update's job. */
export type Job = Awaited<ReturnType<Connected['client']['getJob']>>;

/** Digest of the folder's agent without its terms. It differs if the folder differs from the registered agent. */
export function digestOf({ body }: AgentProject): string {
  const { listing: _, ...fields } = body;
  return sha256Of(fields);
}

/**
 * The folder's `listing` without the price, in the form of an update; empty without a `listing`. Without a rate the
 * marketplace's default applies, and without a README or an icon the listing has none.
 */
export function saidOfListing({ body }: AgentProject): Record<string, unknown> {
  if (body['listing'] === undefined) return {};
  const {
    rental_model: _,
    price_lamports: __,
    min_deposit_lamports: ___,
    ...said
  } = Object(body['listing']) as Record<string, unknown>;
  return { runs_per_minute: null, readme: null, icon: null, ...said };
}

/** Digest of {@link saidOfListing}. It differs if the listing differs from the last sent one. */
export function listingDigestOf(project: AgentProject): string {
  return sha256Of(saidOfListing(project));
}

function sha256Of(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** Registers an agent, and keeps its webhook secret in the folder. @returns the job's id */
export async function register(
  { client, records }: Connected,
  project: AgentProject,
  key: string | undefined,
  environment: CliEnvironment,
): Promise<string> {
  const answer = await client.registerAgent(
    { ...project.body, ...(key === undefined ? {} : { model_key: key }) },
    { signal: environment.signal },
  );
  keepSecret(records, answer.webhook_secret, environment);
  return answer.job_id;
}

/** The fields of a manifest in the form of an update, which removes fields that the folder no longer has. */
export function manifestChanges({ body }: AgentProject): Record<string, unknown> {
  const { listing: _, ...fields } = body;
  const removed = OPTIONAL_MANIFEST_FIELDS.filter((name) => fields[name] === undefined);
  return { ...Object.fromEntries(removed.map((name) => [name, null])), ...fields };
}

/** Sends changes of a registered agent. @returns the job's id */
export async function sendUpdate(
  { client, signer, records }: Connected,
  listingId: string,
  changes: Record<string, unknown>,
  environment: CliEnvironment,
): Promise<string> {
  const answer = await updateAgent(client, signer, listingId, changes, {
    signal: environment.signal,
  });
  keepSecret(records, answer.webhook_secret, environment);
  return answer.job_id;
}

/**
 * Waits for the end of a job.
 *
 * @throws CommandError with all reasons of a refusal.
 */
export async function endOfJob(
  { client }: Connected,
  jobId: string,
  environment: CliEnvironment,
): Promise<Job> {
  for (;;) {
    const job = await client.getJob(jobId, { signal: environment.signal });
    if (job.status === 'failed') {
      const details = (job.error?.details ?? []).map(writtenFault);
      throw new CommandError(
        `The marketplace refuses the agent: ${details.join('; ') || (job.error?.message ?? 'it gives no reason')}`,
      );
    }
    if (job.status === 'completed') return job;
    await sleep(POLL_MS, undefined, { signal: environment.signal });
  }
}

/** Keeps a webhook secret in the folder, before all other steps: the service shows it only once. */
export function keepSecret(records: string, secret: string | undefined, { err }: CliEnvironment): void {
  if (secret === undefined) return;
  writeFileSync(join(records, WEBHOOK_SECRET_FILE), `${secret}\n`, { mode: 0o600 });
  err(`Wrote the webhook secret to ${WEBHOOK_SECRET_FILE}, which is its only copy.`);
}
