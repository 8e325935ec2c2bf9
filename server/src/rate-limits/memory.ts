import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';

/** The state of a caller in its present window. */
export interface RateState {
  limit: number;
  remaining: number;
  /** Unix seconds at which the window ends. */
  resetAt: number;
  exceeded: boolean;
}

/** Counts requests in fixed windows of a minute. */
export interface RateLimits {
  /** Counts one request of `key` against `limit` per minute. */
  count(key: string, limit: number): Promise<RateState>;
}

/** Length of a window. */
export const WINDOW_SECONDS = 60;

/** A counter's answer, compared with a limit. */
export function rateState(
  counted: Pick<RateLimiterRes, 'consumedPoints' | 'msBeforeNext'>,
  limit: number,
): RateState {
  return {
    limit,
    remaining: Math.max(0, limit - counted.consumedPoints),
    resetAt: Math.ceil((Date.now() + counted.msBeforeNext) / 1000),
    exceeded: counted.consumedPoints > limit,
  };
}

/** Limits kept in memory, for one process. */
export function memoryRateLimits(): RateLimits {
  // The counter itself has no limit, and so never refuses: limits differ from key to key and are compared here.
  const counter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: WINDOW_SECONDS });
  return { count: async (key, limit) => rateState(await counter.consume(key), limit) };
}
