import { checkAgent, RENTAL_TERMS, type AgentFault } from '@agent-rental/sdk/creator';
import { isApiError } from '@agent-rental/sdk';
import { publish, update, type PublishTerms } from '@agent-rental/sdk/solana';
import type { CliEnvironment } from '../cli-environment.js';
import { CommandError } from '../errors.js';
import { connect, type Connected } from '../marketplace.js';
import type { MarketplaceOptions, SharedOptions } from '../options.js';
import { readAgentProject, type AgentProject } from '../project/agent-file.js';
import {
  digestOf,
  endOfJob,
  listingDigestOf,
  manifestChanges,
  modelKeyOf,
  register,
  saidOfListing,
  sendUpdate,
  type Job,
} from '../project/register.js';
import { listingOf, readRegistrations, writeRegistration } from '../project/registrations.js';
import { report } from '../report.js';

/** `agent-rental check`: the checks that need no marketplace. */
export async function checkCommand(options: SharedOptions, environment: CliEnvironment): Promise<void> {
  const project = readAgentProject(environment.folder);
  const { faults, advice } = checkAgent(project.body);
  if (faults.length > 0) throw refusal(faults);
  report(options, environment, { faults, advice, notes: project.notes }, [
    ...project.notes,
    ...advice.map((item) => `advice: ${written(item)}`),
    'The agent is well-formed. "agent-rental dev" tries it, "agent-rental publish" offers it.',
  ]);
}

/** `agent-rental publish`: from the folder to an active listing. It skips steps that are done. */
export async function publishCommand(
  options: MarketplaceOptions & { unverified?: true },
  environment: CliEnvironment,
): Promise<void> {
  // Read the folder first: its mistakes can be reported without a wallet.
  readAgentProject(environment.folder);
  const connected = connect(options, environment);
  const published = await publishProject(connected, environment, {
    isUnverified: options.unverified === true,
  });
  const { id, isPending } = published;
  const data = { listing_id: id, status: isPending ? 'in_review' : 'active', url: connected.url };
  report(
    options,
    environment,
    data,
    isPending
      ? [`${id} waits for its review. Run "agent-rental publish" again after the approval.`]
      : [
          `Published ${id} at ${connected.url}.`,
          `Rent it with another wallet: agent-rental rent ${id} --wallet renter.json`,
        ],
  );
}

/**
 * Publishes the agent of a folder.
 *
 * @param fallback terms for an agent without any
 * @param isUnverified publishes also if the marketplace could not reach the agent
 */
export async function publishProject(
  connected: Connected,
  environment: CliEnvironment,
  { fallback, isUnverified }: { fallback?: PublishTerms['listing']; isUnverified?: boolean } = {},
): Promise<{ id: string; isPending: boolean }> {
  const { client, signer, url, records } = connected;
  const { signal, err } = environment;
  const project = checkedProject(environment);
  const sha256 = digestOf(project);
  const known = readRegistrations(records)[url] ?? {};
  if (known.listing_id !== undefined && (await isThere(client.getListing(known.listing_id, { signal })))) {
    throw new CommandError(
      `It is already published as ${known.listing_id}. "agent-rental update" sends changes.`,
    );
  }
  let jobId = known.job_id;
  if (jobId !== undefined && !(await isThere(client.getJob(jobId, { signal })))) jobId = undefined;
  if (jobId === undefined || (known.listing_id === undefined && known.sha256 !== sha256)) {
    err(`Registering the agent at ${url}`);
    jobId = await register(connected, project, environment);
    writeRegistration(records, url, { job_id: jobId, sha256 });
  } else if (known.listing_id !== undefined && known.sha256 !== sha256) {
    err('Sending the changes since the registration');
    jobId = await sendUpdate(connected, known.listing_id, manifestChanges(project), environment);
    writeRegistration(records, url, { ...known, job_id: jobId, sha256 });
  }
  err('Waiting for the review');
  const job = await endOfJob(connected, jobId, environment);
  const id = listingIdOf(job);
  writeRegistration(records, url, { job_id: jobId, listing_id: id, sha256 });
  tellJob(job, environment);
  if (job.review?.state === 'rejected') throw new CommandError(`The review rejected ${id}.`);
  if (job.review?.state === 'pending') return { id, isPending: true };
  err('Publishing it on-chain');
  // The folder's terms may have changed since the registration.
  const listing = (project.body['listing'] as PublishTerms['listing']) ?? fallback;
  await publish(client, signer, id, {
    signal,
    ...(listing && { listing }),
    ...(isUnverified === true ? { unverified: true } : {}),
  });
  const listing_sha256 = listingDigestOf(project);
  writeRegistration(records, url, { job_id: jobId, listing_id: id, sha256, listing_sha256 });
  return { id, isPending: false };
}

/** `agent-rental update`: the folder's state becomes the listing's next version. */
export async function updateCommand(
  named: string | undefined,
  options: MarketplaceOptions & { modelKey?: true },
  environment: CliEnvironment,
): Promise<void> {
  const connected = connect(options, environment);
  const id = listingOf(named, environment.folder, connected.url);
  const changes = await updateProject(connected, id, environment, options.modelKey === true);
  report(options, environment, { listing_id: id, changes }, [
    changes.length === 0
      ? `Nothing has changed since ${id} was updated last.`
      : `Updated ${id}: ${changes.join(', ')}.`,
  ]);
}

/** Sends the changes of a published agent. @returns the changed parts */
export async function updateProject(
  connected: Connected,
  id: string,
  environment: CliEnvironment,
  sendsKey = false,
): Promise<string[]> {
  const { client, signer, url, records } = connected;
  const { signal, err } = environment;
  const project = checkedProject(environment);
  const sha256 = digestOf(project);
  const known = readRegistrations(records)[url] ?? {};
  const listing_sha256 = listingDigestOf(project);
  const changes: string[] = [];
  const found = sendsKey ? modelKeyOf(project, environment) : undefined;
  if (sendsKey && found === undefined) {
    throw new CommandError(
      "--model-key takes the key from the environment, and the model's variable is not set.",
    );
  }
  const isOther = known.listing_id !== id;
  const sent: Record<string, unknown> = {};
  if (isOther || known.sha256 !== sha256 || found !== undefined) {
    Object.assign(sent, manifestChanges(project), found && { model_key: found.key });
    changes.push(found === undefined ? 'manifest' : 'manifest and model key');
  }
  const said = saidOfListing(project);
  if ((isOther || known.listing_sha256 !== listing_sha256) && Object.keys(said).length > 0) {
    Object.assign(sent, { listing: said });
    changes.push('terms');
  }
  let onChain: Parameters<typeof update>[3] = {};
  if (Object.keys(sent).length > 0) {
    err(`Sending the agent to ${url}`);
    onChain = await metadataOf(connected, await sendUpdate(connected, id, sent, environment), environment);
  }
  const terms = Object(project.body['listing']) as { price_lamports?: number; min_deposit_lamports?: number };
  const listing = await client.getListing(id, { signal });
  if (terms.price_lamports !== undefined && terms.price_lamports !== listing.price_lamports) {
    Object.assign(onChain, {
      price_lamports: terms.price_lamports,
      // Without a deposit, the folder's price is also the deposit.
      ...(RENTAL_TERMS[listing.rental_model].isPrepaid
        ? { min_deposit_lamports: terms.min_deposit_lamports ?? terms.price_lamports }
        : {}),
    });
    changes.push('price');
  }
  if (Object.keys(onChain).length > 0) {
    err('Writing it on-chain');
    await update(client, signer, id, onChain, { signal });
  }
  writeRegistration(records, url, { ...known, listing_id: id, sha256, listing_sha256 });
  return changes;
}

/** Waits for the job of a change, prints its review, and returns the metadata to write on-chain. */
export async function metadataOf(
  connected: Connected,
  jobId: string,
  environment: CliEnvironment,
): Promise<{ metadata_uri?: string }> {
  const job = await endOfJob(connected, jobId, environment);
  tellJob(job, environment);
  const uri = (Object(job.next_action?.body) as { metadata_uri?: unknown }).metadata_uri;
  return typeof uri === 'string' ? { metadata_uri: uri } : {};
}

/** Prints the reasons and warnings of a job's review. */
function tellJob({ review, warnings = [] }: Job, { err }: CliEnvironment): void {
  for (const reason of review?.reasons ?? []) err(reason);
  for (const warning of warnings) err(`warning: ${written(warning)}`);
}

function checkedProject(environment: CliEnvironment): AgentProject {
  const project = readAgentProject(environment.folder);
  const { faults } = checkAgent(project.body);
  if (faults.length > 0) throw refusal(faults);
  for (const note of project.notes) environment.err(note);
  return project;
}

function refusal(faults: readonly AgentFault[]): CommandError {
  return new CommandError(`agent.json is not right: ${faults.map(written).join('; ')}`);
}

const written = ({ path, message }: AgentFault) => `${path} ${message}`.trim();

function listingIdOf({ result }: Job): string {
  if (result === undefined)
    throw new CommandError('The marketplace completed the registration without a listing.');
  return result.listing_id;
}

async function isThere(answer: Promise<unknown>): Promise<boolean> {
  try {
    await answer;
    return true;
  } catch (error) {
    if (isApiError(error) && error.status === 404) return false;
    throw error;
  }
}
