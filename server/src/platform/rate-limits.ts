import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** Where a caller stands in its present window. */
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

const WINDOW_SECONDS = 60;

/** Limits kept in memory, for one process. */
export function memoryRateLimits(): RateLimits {
  // One limiter counts; the limit is compared here, because it differs from key to key.
  const counter = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: WINDOW_SECONDS });
  return {
    async count(key, limit) {
      const result = await counter.consume(key).catch((rejected: unknown) => {
        if (rejected instanceof RateLimiterRes) return rejected;
        throw rejected;
      });
      return {
        limit,
        remaining: Math.max(0, limit - result.consumedPoints),
        resetAt: Math.ceil((Date.now() + result.msBeforeNext) / 1000),
        exceeded: result.consumedPoints > limit,
      };
    },
  };
}
