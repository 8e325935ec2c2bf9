import type { SlotRequest } from './slot-repository.js';

/** Counts the runs of this process that hold a slot or wait for one, in memory. */
export interface SlotDemand {
  /**
   * Counts a run; returns a function that ends the count. Undefined when this process alone fills slots and queue, with
   * runs of all wallets or of this one: the run would be refused.
   */
  add(request: SlotRequest): (() => void) | undefined;
  /** Whether {@link SlotDemand.add} would count a run now. */
  hasRoom(listingId: string, wallet: string): boolean;
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
  function hasRoom(listingId: string, wallet: string): boolean {
    const runs = listings.get(listingId);
    if (runs === undefined || runs.size < bounds.slots) return true;
    let waiting = 0;
    let own = 0;
    for (const run of runs.values()) {
      if (run.hasSlot) continue;
      waiting += 1;
      if (run.wallet === wallet) own += 1;
    }
    const free = bounds.slots - (runs.size - waiting);
    return waiting < free + bounds.queueLength && own < free + bounds.ownLength;
  }

  return {
    hasRoom,
    add({ runId, listingId, wallet }) {
      if (!hasRoom(listingId, wallet)) return undefined;
      const runs = listings.get(listingId) ?? new Map<string, { wallet: string; hasSlot: boolean }>();
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
