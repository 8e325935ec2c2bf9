import { UNREACHABLE_REASONS, type UnreachableAgent, type UnreachableReason } from '@agent-rental/contract';
import type { PrivatePart } from './manifest/private-part.js';

/** Why an agent could not be worked with. */
export interface ProbeFailure {
  reason: UnreachableReason;
  /** The answer of the endpoint or of the model's vendor. */
  httpStatus?: number | undefined;
  /** In words that its creator may see: nothing of keys, prompts or internal addresses. */
  detail?: string | undefined;
}

/** The result of a probe of an agent. */
export type ProbeOutcome = 'reached' | ProbeFailure;

/**
 * Tests whether the service can work with an agent. A connected agent gets a signed handshake; a declarative agent's model
 * gets a short question. Bounded in time and size.
 *
 * @throws the reason of a stopping server, so that the queue tries again.
 */
export type AgentProbe = (agent: PrivatePart, listingId: string) => Promise<ProbeOutcome>;

/** The text for a creator about an agent that cannot be reached. */
export function describeUnreachable({ reason, httpStatus, detail }: ProbeFailure): string {
  const { what, next } = UNREACHABLE_REASONS[reason];
  const why = httpStatus === undefined ? detail : `it answered ${httpStatus}`;
  return `${what}${why === undefined ? '' : `: ${why}`}. ${next}`;
}

/** The columns that say of an agent that it cannot be reached. */
export interface FailureColumns {
  reason: UnreachableReason | null;
  http_status: number | null;
  detail: string | null;
  unreachable_since: Date | null;
  failed_at: Date | null;
}

/** A failure as it is on record; undefined where there is none. */
export function failureOnRecord(row: FailureColumns): ProbeFailure | undefined {
  if (row.reason === null) return undefined;
  return {
    reason: row.reason,
    httpStatus: row.http_status ?? undefined,
    detail: row.detail ?? undefined,
  };
}

/** The same as creators see it in a list. */
export function toUnreachable(row: FailureColumns): UnreachableAgent | null {
  const failure = failureOnRecord(row);
  if (failure === undefined || row.unreachable_since === null || row.failed_at === null) return null;
  return {
    reason: failure.reason,
    ...(failure.httpStatus === undefined ? {} : { http_status: failure.httpStatus }),
    message: describeUnreachable(failure),
    since: row.unreachable_since.toISOString(),
    checked_at: row.failed_at.toISOString(),
  };
}
