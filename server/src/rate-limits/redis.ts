import { Redis } from 'ioredis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import type { Logger } from '../platform/logger.js';
import { memoryRateLimits, rateState, WINDOW_SECONDS, type RateLimits } from './memory.js';

/** A Redis that does not answer within this time is treated as down: a limit must not slow every request. */
const ANSWER_TIMEOUT_MS = 250;
/** A connection that is silent for so long, while something was asked, is given up. */
const SOCKET_TIMEOUT_MS = 5_000;
const RECONNECT_MOST_MS = 2_000;
/** After a failure Redis is left alone for so long, so that one that hangs slows a request a second, not all. */
const PAUSE_MS = 1_000;

/** Limits that all replicas share, and how to let go of them. */
export interface SharedRateLimits extends RateLimits {
  close(): Promise<void>;
}

/**
 * Limits kept in Redis, exact across replicas. While Redis does not answer, each replica counts against its share of the
 * limit. So an outage neither refuses all callers nor lifts the limits.
 *
 * @param onFallback called for each request that this replica counted without Redis
 */
export function redisRateLimits(
  url: string,
  replicas: number,
  logger: Logger,
  onFallback: () => void = () => undefined,
): SharedRateLimits {
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    socketTimeout: SOCKET_TIMEOUT_MS,
    connectTimeout: 2_000,
    retryStrategy: (attempt) => Math.min(RECONNECT_MOST_MS, attempt * 100),
  });
  let isDown = false;
  let askAgainAt = 0;
  const noteDown = (err: unknown) => {
    if (!isDown) logger.error({ err }, 'Redis does not answer; each replica limits by itself');
    isDown = true;
    askAgainAt = performance.now() + PAUSE_MS;
  };
  redis.on('error', noteDown);
  const noteUp = () => {
    if (isDown) logger.info('Redis answers again');
    isDown = false;
    askAgainAt = 0;
  };
  redis.on('ready', noteUp);
  const shared = new RateLimiterRedis({
    storeClient: redis,
    keyPrefix: 'agent-rental-rate',
    points: Number.MAX_SAFE_INTEGER,
    duration: WINDOW_SECONDS,
  });
  const alone = memoryRateLimits();
  const countAlone: RateLimits['count'] = (key, limit) => {
    onFallback();
    return alone.count(key, Math.max(1, Math.floor(limit / replicas)));
  };
  return {
    async count(key, limit) {
      if (performance.now() < askAgainAt) return countAlone(key, limit);
      try {
        const state = rateState(await inTime(shared.consume(key)), limit);
        noteUp();
        return state;
      } catch (error) {
        noteDown(error);
        return countAlone(key, limit);
      }
    },
    close: async () => {
      redis.disconnect();
    },
  };
}

/**
 * Gives the answer of Redis, or rejects when it is late. Answers that came while this process was busy are read first. A
 * stall of ours is no outage of Redis, and a local count would then let more through than the limit.
 */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const refuse = () => reject(new Error(`Redis did not answer within ${ANSWER_TIMEOUT_MS} ms.`));
    // Timers come before the data of the sockets, immediates after it.
    timer = setTimeout(() => setImmediate(refuse), ANSWER_TIMEOUT_MS);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
