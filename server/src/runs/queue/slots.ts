import { setTimeout as pause } from 'node:timers/promises';
import { SLOTS_PER_LISTING } from '@agent-rental/contract';
import { ApiError } from '../../errors/api-error.js';
import type { Logger } from '../../platform/logger.js';
import type { RunChanges } from '../live/run-changes.js';
import { createSlotDemand } from './demand.js';
import type { Bounds, Entry, SlotRepository, SlotRequest } from './slot-repository.js';

/** Lease of a slot: a replica that died or cannot reach the database loses its slots after this time. */
const LEASE_MS = 60_000;
/** Lease of a waiting run: the time in which it must renew its place, or claim a slot that was given to it. */
const CLAIM_MS = 15_000;
/** How long a refusal from memory is held back. */
const REFUSAL_PAUSE_MS = 250;
const FULL = 'the queue for them is full';

/** A run was refused, because the slots of its listing are taken. */
export class NoSlotError extends ApiError {}

/** The slots of listings, shared by all replicas, and the queues of runs that wait for them. */
export interface Slots {
  /** Limits of slots and queue under which runs are recorded. */
  readonly bounds: Bounds;
  /**
   * Counts a run that will ask for a slot, in memory: a refusal costs no query. Returns a function that ends the count.
   *
   * @throws ApiError `rate_limit_exceeded` with `Retry-After` when this process alone has filled slots and queue.
   */
  countDemand(request: SlotRequest): () => void;
  /**
   * Refuses a run that `countDemand` would refuse, after a moment. Callers that come back at once would keep the process
   * busy with refusals, and its slots would stay empty. A run that has room by then is not refused.
   *
   * @throws ApiError as `countDemand`; the reason of `gone`.
   */
  requireRoom(run: Pick<SlotRequest, 'listingId' | 'wallet'>, gone: AbortSignal): Promise<void>;
  /**
   * Takes a slot, or waits for one in the queue. The slot is held until `free`, or until this process ends.
   *
   * @throws ApiError `rate_limit_exceeded` with `Retry-After` when the queue is full, or the wait was too long; the
   * reason of `signal` when that aborts. No place is left then.
   *
   * @param entered the run's slot or place, taken with its record under these `bounds`; absent: it enters now.
   */
  take(request: SlotRequest, signal: AbortSignal, entered?: Entry): Promise<void>;
  /**
   * Frees a run's slot, gives it to the next run, and announces that the run has changed. Never throws: a slot that cannot
   * be freed lapses, and waiting callers also poll. Gives whether it is free.
   */
  free(runId: string): Promise<boolean>;
  /** Frees every slot and empties every queue. For the start of a server that has no other replica. */
  freeAll(): Promise<void>;
}

export function createSlots(deps: {
  repository: SlotRepository;
  changes: Pick<RunChanges, 'announce' | 'watch'>;
  logger: Pick<Logger, 'warn'>;
  queue: { maxLength: number; maxWaitMs: number };
  /** Slots of a listing: fewer than the default when the server has too few sandboxes. */
  slotsPerListing?: number;
  /** Only tests set it. */
  leaseMs?: number;
}): Slots {
  const { repository, changes, logger, queue, leaseMs = LEASE_MS } = deps;
  const { slotsPerListing = SLOTS_PER_LISTING } = deps;
  const bounds = {
    slots: slotsPerListing,
    queueLength: queue.maxLength,
    // One wallet alone cannot keep all others out of the queue.
    ownLength: Math.ceil(queue.maxLength / 2),
    leaseMs,
    claimMs: Math.min(leaseMs, CLAIM_MS),
  };
  const demand = createSlotDemand(bounds);
  const held = new Set<string>();
  let renewing: NodeJS.Timeout | undefined;

  function hold(runId: string): void {
    if (held.size === 0) {
      renewing = setInterval(() => {
        repository
          .renew([...held], bounds)
          .catch((err: unknown) => logger.warn({ err }, 'the leases of slots could not be renewed'));
      }, leaseMs / 4);
    }
    held.add(runId);
    demand.seated(runId);
  }

  function letGo(runId: string): void {
    if (held.delete(runId) && held.size === 0) clearInterval(renewing);
  }

  async function handOut(listingId: string): Promise<void> {
    for (const runId of await repository.handOut(listingId, bounds)) await changes.announce(runId);
  }

  async function free(runId: string): Promise<boolean> {
    letGo(runId);
    try {
      const listingId = await repository.leave(runId);
      if (listingId !== undefined) await handOut(listingId);
      return true;
    } catch (err) {
      logger.warn({ err, run_id: runId }, 'a slot could not be given up; it lapses');
      return false;
    }
  }

  const refusal = (why: string) =>
    new NoSlotError(
      'rate_limit_exceeded',
      `All ${slotsPerListing} concurrent runs of this agent, or all that one wallet may have, are taken, and ${why}.`,
      { next: 'Nothing was charged; try again.', retryAfterSeconds: Math.ceil(queue.maxWaitMs / 2000) },
    );

  /** Enters, and waits for its turn. */
  async function wait(request: SlotRequest, signal: AbortSignal, entered: Entry | undefined): Promise<void> {
    const { runId, listingId } = request;
    const deadline = performance.now() + queue.maxWaitMs;
    const watch = changes.watch(runId);
    try {
      let state: Entry | 'gone' = entered ?? (await repository.enter(request, bounds));
      while (state !== 'seated') {
        if (state === 'full') throw refusal(FULL);
        signal.throwIfAborted();
        // A slot may have lapsed, or have become free while this run entered the queue.
        await handOut(listingId);
        state = await repository.keep(runId, bounds);
        if (state === 'seated') break;
        const leftMs = deadline - performance.now();
        if (leftMs <= 0) throw refusal('none became free in time');
        if (state === 'gone') state = await repository.enter(request, bounds);
        else if (!(await watch.next(Math.min(leftMs, bounds.claimMs / 3), signal)))
          throw refusal('the server is shutting down');
      }
    } finally {
      watch.close();
    }
  }

  return {
    bounds,
    countDemand(request) {
      const leave = demand.add(request);
      if (leave === undefined) throw refusal(FULL);
      return leave;
    },
    async requireRoom({ listingId, wallet }, gone) {
      if (demand.hasRoom(listingId, wallet)) return;
      await pause(REFUSAL_PAUSE_MS, undefined, { signal: gone }).catch(() => gone.throwIfAborted());
      if (!demand.hasRoom(listingId, wallet)) throw refusal(FULL);
    },
    async take(request, signal, entered) {
      try {
        await wait(request, signal, entered);
        signal.throwIfAborted();
        hold(request.runId);
      } catch (error) {
        await free(request.runId);
        throw error;
      }
    },
    free,
    freeAll: () => repository.leaveAll(),
  };
}
