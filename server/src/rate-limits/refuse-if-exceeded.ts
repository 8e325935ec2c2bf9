import { ApiError } from '../errors/api-error.js';
import type { RateState } from './memory.js';

/** Refuses a request beyond its limit (429 with `Retry-After`), and says which requests it counts. */
export function refuseIfExceeded(rate: RateState | null, counted = ''): void {
  if (!rate?.exceeded) return;
  const seconds = Math.max(1, rate.resetAt - Math.floor(Date.now() / 1000));
  throw new ApiError('rate_limit_exceeded', `More than ${rate.limit} requests${counted} in a minute.`, {
    next: `Try again in ${seconds} s.`,
    retryAfterSeconds: seconds,
  });
}
