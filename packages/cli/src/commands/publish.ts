import { RENTAL_TERMS } from '@agent-rental/sdk/creator';
import { formatSol, isApiError, netLamports } from '@agent-rental/sdk';
import { publish, setModelKey, update, type PublishTerms } from '@agent-rental/sdk/solana';
import type { CliEnvironment } from '../cli-environment.js';
import { CommandError } from '../errors.js';
import { connect, type Connected } from '../marketplace.js';
import type { MarketplaceOptions, SharedOptions } from '../options.js';
import { writeAgentOfCard } from '../project/a2a-card.js';
import { AGENT_FILE, readAgentProject } from '../project/agent-file.js';
import { waitForOwnAgent } from '../project/agent-endpoint.js';
import { checkedProject, projectToSend } from '../project/check-project.js';
import { findModelKey, missingKey, requireModelKey, testModelKey } from '../project/model-key.js';
import {
  digestOf,
  endOfJob,
  listingDigestOf,
  manifestChanges,
  register,
  saidOfListing,
  sendUpdate,
  type Job,
} from '../project/register.js';
import { listingOf, readRegistrations, writeRegistration } from '../project/registrations.js';
import { report } from '../report.js';
import { inWordsOfCli, writtenFault } from '../words.js';

const PAID = { one_time: 'once', subscription: 'for 30 days', per_query: 'per task' } as const;

/** `agent-rental check`: the checks that need no marketplace. */
export async function checkCommand(options: SharedOptions, environment: CliEnvironment): Promise<void> {
  const { project, advice } = await checkedProject(environment.folder);
  report(options, environment, { faults: [], advice, notes: project.notes }, [
    ...project.notes,
    ...advice.map((item) => `advice: ${writtenFault(item)}`),
    'The agent is well-formed. "agent-rental dev" tries it, "agent-rental publish" offers it.',
  ]);
}

/** `agent-rental publish`: from the folder to an active listing. It skips steps that are done. */
export async function publishCommand(
  options: MarketplaceOptions & { unverified?: true; modelKey?: string; a2a?: string },
  environment: CliEnvironment,
): Promise<void> {
  if (options.a2a !== undefined) {
    const name = await writeAgentOfCard(options.a2a, environment);
    report(options, environment, { name, files: [AGENT_FILE] }, [
      `Wrote ${AGENT_FILE} for ${name}. Look at its category, its schemas and its price.`,
      'Next: agent-rental publish',
    ]);
    return;
  }
  // Read the folder first: its mistakes can be reported without a wallet.
  readAgentProject(environment.folder);
  const connected = connect(options, environment);
  const published = await publishProject(connected, environment, {
    isUnverified: options.unverified === true,
    keySource: options.modelKey,
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
 * @param keySource file or variable with the key of the agent's model
 */
export async function publishProject(
  connected: Connected,
  environment: CliEnvironment,
  {
    fallback,
    isUnverified = false,
    keySource,
  }: { fallback?: PublishTerms['listing']; isUnverified?: boolean; keySource?: string | undefined } = {},
): Promise<{ id: string; isPending: boolean }> {
  const { client, signer, url, records } = connected;
  const { signal, err } = environment;
  const known = readRegistrations(records)[url] ?? {};
  const isFirst = known.job_id === undefined;
  const { project, network } = await projectToSend(connected, environment, (read) =>
    isFirst ? missingKey(read, keySource, environment) : [],
  );
  const listing = (project.body['listing'] as PublishTerms['listing']) ?? fallback;
  if (listing !== undefined) err(earningsLine(listing, network.fee_bps));
  const sha256 = digestOf(project);
  if (known.listing_id !== undefined && (await isThere(client.getListing(known.listing_id, { signal })))) {
    throw new CommandError(
      `It is already published as ${known.listing_id}. "agent-rental update" sends changes.`,
    );
  }
  let jobId = known.job_id;
  if (jobId !== undefined && !(await isThere(client.getJob(jobId, { signal })))) jobId = undefined;
  const isNew = jobId === undefined || (known.listing_id === undefined && known.sha256 !== sha256);
  const key = isNew
    ? await requireModelKey(project, keySource, environment)
    : findModelKey(project, keySource, environment);
  if (key !== undefined) {
    err(`The model's key is the one in ${key.from}.`);
    if (!isUnverified) await testModelKey(key, environment);
  }
  if (!isUnverified) await waitForOwnAgent(project, environment);
  if (jobId === undefined || isNew) {
    err(`Registering the agent at ${url}`);
    jobId = await register(connected, project, key?.key, environment);
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
  // It was registered earlier, maybe without this key.
  if (!isNew && key !== undefined) await setModelKey(client, signer, id, key.key, { signal });
  if (job.review?.state === 'pending') return { id, isPending: true };
  err('Publishing it on-chain');
  await publish(client, signer, id, {
    signal,
    // The folder's terms may have changed since the registration.
    ...(listing && { listing }),
    ...(isUnverified ? { unverified: true } : {}),
  });
  const listing_sha256 = listingDigestOf(project);
  writeRegistration(records, url, { job_id: jobId, listing_id: id, sha256, listing_sha256 });
  return { id, isPending: false };
}

/** The creator's part of each payment, after the protocol's fee. */
function earningsLine(listing: NonNullable<PublishTerms['listing']>, feeBps: number): string {
  const { price_lamports: price = 0, rental_model: model = 'per_query' } = listing;
  return `You get ${formatSol(netLamports(price, feeBps))} of ${formatSol(price)} ${PAID[model]}: the protocol keeps ${feeBps / 100}%.`;
}

/** The choices of an update beside the folder's content. */
interface UpdateChoices {
  /** File or variable with a new key of the agent's model; true: the variable of its vendor. */
  readonly keySource?: string | true | undefined;
  /** The changes in words, for renters. */
  readonly notes?: string | undefined;
}

/** `agent-rental update`: the folder's state becomes the listing's next version. */
export async function updateCommand(
  named: string | undefined,
  options: MarketplaceOptions & { modelKey?: string | true; notes?: string },
  environment: CliEnvironment,
): Promise<void> {
  const connected = connect(options, environment);
  const id = listingOf(named, environment.folder, connected.url);
  const { modelKey: keySource, notes } = options;
  const changes = await updateProject(connected, id, environment, { keySource, notes });
  report(options, environment, { listing_id: id, changes }, [
    changes.length === 0
      ? `Nothing has changed since ${id} was updated last.`
      : `Updated ${id}: ${changes.join(', ')}.`,
  ]);
}

/** Sends the changes of a registered agent. @returns the changed parts */
export async function updateProject(
  connected: Connected,
  id: string,
  environment: CliEnvironment,
  { keySource, notes }: UpdateChoices = {},
): Promise<string[]> {
  const { client, signer, url, records } = connected;
  const { signal, err } = environment;
  const { project } = await projectToSend(connected, environment);
  const sha256 = digestOf(project);
  const known = readRegistrations(records)[url] ?? {};
  const listing_sha256 = listingDigestOf(project);
  const changes: string[] = [];
  const key = keySource === undefined ? undefined : findModelKey(project, keySource, environment);
  if (key !== undefined) await testModelKey(key, environment);
  const isOther = known.listing_id !== id;
  const sent: Record<string, unknown> = {};
  if (isOther || known.sha256 !== sha256) {
    Object.assign(sent, manifestChanges(project), key && { model_key: key.key });
    changes.push('manifest');
  }
  if (notes !== undefined) sent['version_notes'] = notes;
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
  if (key !== undefined) {
    // The key alone makes no new version.
    if (sent['model_key'] === undefined) await setModelKey(client, signer, id, key.key, { signal });
    changes.push('model key');
  }
  const terms = Object(project.body['listing']) as { price_lamports?: number; min_deposit_lamports?: number };
  const listing = await found(client.getListing(id, { signal }));
  if (listing === undefined && changes.length > 0) {
    // A draft has no public page. Its price is sent when it is published.
    err(`${id} is not published yet: "agent-rental publish" does it.`);
  } else if (listing === undefined) throw noListing(id);
  else if (terms.price_lamports !== undefined && terms.price_lamports !== listing.price_lamports) {
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
  for (const reason of review?.reasons ?? []) err(inWordsOfCli(reason));
  for (const warning of warnings) err(`warning: ${writtenFault(warning)}`);
}

const noListing = (id: string) =>
  new CommandError(`This wallet has no listing ${id}: --wallet names its wallet, --url its marketplace.`);

function listingIdOf({ result }: Job): string {
  if (result === undefined)
    throw new CommandError('The marketplace completed the registration without a listing.');
  return result.listing_id;
}

const isThere = async (answer: Promise<unknown>): Promise<boolean> => (await found(answer)) !== undefined;

/** An answer of the API; undefined where the thing does not exist. */
async function found<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isApiError(error) && error.status === 404) return undefined;
    throw error;
  }
}
