import { setTimeout } from 'node:timers/promises';
import { PROBES_PER_DAY } from '@agent-rental/contract';
import { ApiError } from '../../errors/api-error.js';
import type { DraftRow } from '../drafts/draft-row.js';
import { describeUnreachable, failureOnRecord } from '../probe-outcome.js';
import type { ProbeRecords, ProbeRow } from './probe-records.js';

/** How often a publication looks whether the probe has ended. */
const LOOK_EVERY_MS = 200;

const PUBLISH_ANYWAY =
  'Correct it and publish again; or publish with "unverified": true, and renters are told that the agent was not reached.';

/** The probes, as publishing uses them. */
export interface PublicationProbes extends Pick<ProbeRecords, 'findProbe' | 'requestProbe'> {
  /** How long a publication waits for the probe, in milliseconds. */
  waitMs: number;
}

/** Whether the version that runs was reached by the last probe or sample run. */
const isReached = (row: ProbeRow | undefined) =>
  row !== undefined && row.reached_at !== null && row.reason === null && row.requested_at === null;

/**
 * Ensures that the service can reach an agent before its publication. It probes an unreachable agent again, because
 * the creator may have corrected the fault.
 *
 * @param isUnverified publishes without waiting for a probe, also where the last one failed
 * @returns whether it was reached
 * @throws ApiError `invalid_request` that says why it was not reached, 503 while the probe is under way.
 */
export async function requireReached(
  { id }: Pick<DraftRow, 'id'>,
  probes: PublicationProbes,
  isUnverified: boolean,
): Promise<boolean> {
  const found = await probes.findProbe(id);
  if (isReached(found)) return true;
  const isAsked = found?.requested_at != null || (await probes.requestProbe(id));
  if (isUnverified) return false;
  if (!isAsked)
    throw notReached(found, `The agents of this wallet were probed ${PROBES_PER_DAY} times today.`);
  for (const until = performance.now() + probes.waitMs; ;) {
    const now = await probes.findProbe(id);
    if (isReached(now)) return true;
    if (now !== undefined && now.requested_at === null) throw notReached(now);
    if (performance.now() >= until) throw probeUnderWay();
    await setTimeout(LOOK_EVERY_MS);
  }
}

function notReached(row: ProbeRow | undefined, otherwise = 'The agent was not reached.'): ApiError {
  const failure = row && failureOnRecord(row);
  const why = failure === undefined ? otherwise : describeUnreachable(failure);
  return new ApiError('invalid_request', `The agent is not published, because it would not run. ${why}`, {
    next: PUBLISH_ANYWAY,
  });
}

function probeUnderWay(): ApiError {
  return new ApiError('service_unavailable', 'The probe that reaches the agent is under way.', {
    next: 'Ask again, or publish with "unverified": true.',
    retryAfterSeconds: 5,
  });
}
