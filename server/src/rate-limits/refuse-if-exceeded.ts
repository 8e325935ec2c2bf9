import { ApiError } from '../errors/api-error.js';
import type { RateState } from './memory.js';

/** Refuses a request beyond its limit (429 with `Retry-After`). */
export function refuseIfExceeded(rate: RateState | null): void {
  if (!rate?.exceeded) return;
  const seconds = Math.max(1, rate.resetAt - Math.floor(Date.now() / 1000));
  throw new ApiError('rate_limit_exceeded', `More than ${rate.limit} requests in a minute.`, {
    next: `Try again in ${seconds} s.`,
    retryAfterSeconds: seconds,
  });
}
