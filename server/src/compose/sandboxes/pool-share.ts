import { SLOTS_PER_LISTING } from '@agent-rental/contract';
import { type SandboxDriver, slotsOfOneOwner } from '@agent-rental/sandbox';
import type { Config } from '../../config/index.js';
import type { Logger } from '../../platform/logger.js';

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
 * One pool's share of the driver. A run holds one sandbox, and at most one more for its model's code. Each comes from
 * its own pool, so that with equal shares no run waits for the end of another.
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

/**
 * Number of runs that one listing can have at the same time on this server. A listing gets no more slots than its runs can
 * have sandboxes: a run beyond that would wait for a sandbox until it fails. Logs a warning when that is fewer than
 * `SLOTS_PER_LISTING`.
 */
export function concurrentRunsPerListing(
  { maxActive, maxSandboxes }: PoolShare,
  logger: Pick<Logger, 'warn'>,
): number {
  const runs = Math.min(SLOTS_PER_LISTING, slotsOfOneOwner(maxActive));
  if (runs < SLOTS_PER_LISTING) {
    const setting = maxSandboxes === maxActive ? 'E2B_MAX_SANDBOXES' : 'SANDBOX_MAX_ACTIVE';
    logger.warn(
      { runs_per_listing: runs, max_active: maxActive, setting },
      `a listing has fewer concurrent runs than the usual ${SLOTS_PER_LISTING}: raise ${setting}`,
    );
  }
  return runs;
}
