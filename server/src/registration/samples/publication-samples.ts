import { setTimeout } from 'node:timers/promises';
import { ApiError } from '../../errors/api-error.js';
import type { DraftRow } from '../drafts/draft-row.js';

/** How often a publication looks whether the sample run has ended. */
const LOOK_EVERY_MS = 200;

/** The samples, as publishing uses them. */
export interface PublicationSamples {
  /** The listing as it is now. */
  find(listingId: string): Promise<DraftRow | undefined>;
  /** Whether the version that runs can be run by the service. */
  canBeSampled(draft: DraftRow): Promise<boolean>;
  /** Queues a sample run. */
  request(listingId: string): Promise<void>;
  /** How long a publication waits for the sample run, in milliseconds. */
  waitMs: number;
}

/** Whether a listing shows a sample. */
export const hasSamples = (draft: Pick<DraftRow, 'sample_output'>): boolean => draft.sample_output.length > 0;

/** The sample run has not ended yet. */
export function sampleUnderWay(): ApiError {
  return new ApiError('service_unavailable', 'The run that gives the listing its sample is under way.', {
    next: 'Ask again, or send listing.sample_output.',
    retryAfterSeconds: 5,
  });
}

/**
 * Sees to it that a draft has a sample when it is published, however it is packaged. An agent whose last sample run gave none
 * is run again: a connected one could not check our signature before its creator had the secret.
 *
 * @throws ApiError `invalid_request` where the creator has to send samples, 503 while the run is under way.
 */
export async function requireSamples(draft: DraftRow, samples: PublicationSamples): Promise<void> {
  if (hasSamples(draft)) return;
  if (!(await samples.canBeSampled(draft))) {
    throw withoutSamples('the agent cannot run without a model key, so there is no sample run');
  }
  if (draft.sample_problem !== null) await samples.request(draft.id);
  for (const until = performance.now() + samples.waitMs; ;) {
    const now = await samples.find(draft.id);
    if (!now || hasSamples(now)) return;
    if (now.sample_problem !== null) throw withoutSamples(now.sample_problem);
    if (performance.now() >= until) throw sampleUnderWay();
    await setTimeout(LOOK_EVERY_MS);
  }
}

function withoutSamples(why: string): ApiError {
  return new ApiError(
    'invalid_request',
    `listing.sample_output is required, one to three example outputs: ${why.replace(/\.$/, '')}.`,
    { next: 'Send them in listing, or change the agent and publish again.' },
  );
}
