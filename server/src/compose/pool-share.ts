import type { SandboxDriver } from '@agent-rental/sandbox';
import type { Config } from '../config.js';

/** Sizes of a pool. */
export interface PoolShare {
  /** How many to keep ready. */
  size: number;
  maxActive: number;
  maxSandboxes?: number;
  maxConcurrentStarts?: number;
}

/** Starts over a network wait, and do not slow each other down. */
const REMOTE_CONCURRENT_STARTS = 8;

/**
 * One pool's share of the driver. A run holds a sandbox of its own and at most one more for its model's code, each
 * from its own pool, so that with equal shares no run waits for another one to end.
 */
export function poolShare(
  { capacity }: Pick<SandboxDriver, 'capacity'>,
  { poolSize, maxActive }: Pick<Config['sandbox'], 'poolSize' | 'maxActive'>,
  pools: number,
): PoolShare {
  if (capacity === undefined) return { size: poolSize, maxActive };
  const maxSandboxes = Math.floor(capacity.maxSandboxes / pools);
  return {
    size: Math.min(poolSize, maxSandboxes),
    maxActive: Math.min(maxActive, maxSandboxes),
    maxSandboxes,
    maxConcurrentStarts: REMOTE_CONCURRENT_STARTS,
  };
}
