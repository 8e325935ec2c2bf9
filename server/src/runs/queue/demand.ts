import type { SlotRequest } from './slot-repository.js';

/** Counts the runs of this process that hold a slot or wait for one, in memory. */
export interface SlotDemand {
  /**
   * Counts a run; returns a function that ends the count. Undefined when this process alone fills slots and queue, with
   * runs of all wallets or of this one: the run would be refused.
   */
  add(request: SlotRequest): (() => void) | undefined;
  /** Records that a counted run has a slot. */
  seated(runId: string): void;
}

/** Creates the count of one replica. It never refuses a run that the database would accept. */
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
