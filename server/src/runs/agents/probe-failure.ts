import type { ProbeFailure } from '../../registration/index.js';
import type { FailureCause } from './outcome.js';

/** Statuses that say of the caller's signature or key that it is not accepted. */
const NOT_ACCEPTED = new Set([401, 403]);
/** Statuses of an address that takes no tasks: it is empty, takes no POST, or a proxy answers for it. */
const TAKES_NO_TASKS = new Set([404, 405, 410, 501, 502, 503, 504]);
/** Statuses with which a model's vendor refuses a request, and not its sender. */
const OF_THE_REQUEST = new Set([400, 413, 422]);

/**
 * The reason why an agent cannot be used, by the end of a run or the answer to a probe; undefined where it can. An agent that
 * answers with its own error is reachable.
 */
export function failureOf({ class: cause, httpStatus }: FailureCause): ProbeFailure | undefined {
  switch (cause) {
    case 'endpoint_refused':
      if (httpStatus === undefined) return undefined;
      if (NOT_ACCEPTED.has(httpStatus)) return { reason: 'endpoint_signature', httpStatus };
      return TAKES_NO_TASKS.has(httpStatus) || isRedirect(httpStatus)
        ? { reason: 'endpoint_refused', httpStatus }
        : undefined;
    case 'endpoint_unreachable':
    case 'model_unreachable':
      return { reason: cause };
    case 'model_refused':
      return httpStatus !== undefined && OF_THE_REQUEST.has(httpStatus)
        ? undefined
        : { reason: modelRefusal(httpStatus), httpStatus };
    default:
      return undefined;
  }
}

/** Whether a model's refusal is of the key, or of the request. */
export const modelRefusal = (status: number | undefined) =>
  status !== undefined && NOT_ACCEPTED.has(status) ? 'model_key_refused' : 'model_refused';

const isRedirect = (status: number) => status >= 300 && status < 400;
