import type { ExecuteBody } from '@agent-rental/contract';
import { indexedStatusOf, type IndexedStatus } from '../../credentials/index.js';
import type { RateLimits, RateState } from '../../rate-limits/memory.js';
import { refuseIfExceeded } from '../../rate-limits/refuse-if-exceeded.js';
import type { ListingService, PublishedListing } from '../../listings/index.js';
import type { NotedCounts } from '../history/noted-counts.js';
import type { Order, Task } from '../task.js';
import { step } from './steps.js';

/** The parts that find a task's listing. */
export interface ParseDeps {
  listings: Pick<ListingService, 'findFor'>;
  rateLimits: RateLimits;
  noted: Pick<NotedCounts, 'noteRefusal'>;
  /** Runs that a wallet may begin of one listing in a minute, where its creator set no limit. */
  executionsPerMinute: number;
}

/**
 * Step 1: finds the listing that an order names, with the caller's access to it by the index, and counts the
 * execution against its limit.
 *
 * @throws ApiError `listing_not_found`; `rate_limit_exceeded`.
 */
export const parse = step(
  'parse',
  async (
    deps: ParseDeps,
    order: Order,
    { body, onExecutionRate }: { body: ExecuteBody; onExecutionRate(rate: RateState): void },
  ): Promise<{ task: Task; access: IndexedStatus }> => {
    const { listing, rental } = await deps.listings.findFor(order.owner, order.listingId, body.version);
    const rate = await deps.rateLimits.count(
      `run:${order.wallet}:${listing.id}`,
      listing.runsPerMinute ?? deps.executionsPerMinute,
    );
    onExecutionRate(rate);
    if (rate.exceeded) deps.noted.noteRefusal(listing.id, 'rate_limit');
    refuseIfExceeded(rate);
    return { task: taskOf(order, body, listing), access: indexedStatusOf(listing, rental) };
  },
);

/** Returns the task of an order for the listing that the order names. */
export function taskOf(
  order: Order,
  { timeout_seconds: requested }: ExecuteBody,
  listing: PublishedListing,
): Task {
  const timeoutSeconds = Math.min(requested ?? Number.POSITIVE_INFINITY, listing.version.timeoutSeconds);
  return { ...order, listing, timeoutSeconds };
}
