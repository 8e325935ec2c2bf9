import type { SeatRequest } from './slot-repository.js';

/** Who of this process has or wants a seat, counted in memory. */
export interface SeatDemand {
  /**
   * Counts a run in; undefined when it can only be refused: this process alone has as many as seats and line hold, of all
   * wallets or of this one. Gives what counts it out again.
   */
  add(request: SeatRequest): (() => void) | undefined;
  /** A run that was counted in has a seat now. */
  seated(runId: string): void;
}

/** Makes the count. Replicas each have their own: it never refuses whom the database would let in. */
export function createSeatDemand(bounds: {
  seats: number;
  lineLength: number;
  ownLength: number;
}): SeatDemand {
  const listings = new Map<string, Map<string, { wallet: string; isSeated: boolean }>>();
  const byRun = new Map<string, { isSeated: boolean }>();
  return {
    add({ runId, listingId, wallet }) {
      const runs = listings.get(listingId) ?? new Map<string, { wallet: string; isSeated: boolean }>();
      const waiting = [...runs.values()].filter(({ isSeated }) => !isSeated);
      const own = waiting.filter((run) => run.wallet === wallet);
      const free = bounds.seats - (runs.size - waiting.length);
      if (waiting.length >= free + bounds.lineLength || own.length >= free + bounds.ownLength)
        return undefined;
      const run = { wallet, isSeated: false };
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
      if (run) run.isSeated = true;
    },
  };
}
