import type { SlotRequest } from './slot-repository.js';

/** Who of this process has or wants a slot, counted in memory. */
export interface SlotDemand {
  /**
   * Counts a run in; undefined when it can only be refused: this process alone has as many as slots and queue hold, of all
   * wallets or of this one. Gives what counts it out again.
   */
  add(request: SlotRequest): (() => void) | undefined;
  /** A run that was counted in has a slot now. */
  seated(runId: string): void;
}

/** Makes the count. Replicas each have their own: it never refuses whom the database would let in. */
export function createSlotDemand(bounds: {
  slots: number;
  queueLength: number;
  ownLength: number;
}): SlotDemand {
  const listings = new Map<string, Map<string, { wallet: string; hasSlot: boolean }>>();
  const byRun = new Map<string, { hasSlot: boolean }>();
  return {
    add({ runId, listingId, wallet }) {
      const runs = listings.get(listingId) ?? new Map<string, { wallet: string; hasSlot: boolean }>();
      const waiting = [...runs.values()].filter(({ hasSlot }) => !hasSlot);
      const own = waiting.filter((run) => run.wallet === wallet);
      const free = bounds.slots - (runs.size - waiting.length);
      if (waiting.length >= free + bounds.queueLength || own.length >= free + bounds.ownLength)
        return undefined;
      const run = { wallet, hasSlot: false };
      listings.set(listingId, runs.set(runId, run));
      byRun.set(runId, run);
      return () => {
        byRun.delete(runId);
        runs.delete(runId);
        if (runs.size === 0) listings.delete(listingId);
      };
    },
    seated(runId) {
      const run = byRun.get(runId);
      if (run) run.hasSlot = true;
    },
  };
}
