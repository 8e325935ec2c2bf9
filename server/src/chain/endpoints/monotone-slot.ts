/** Slots that a cluster makes in a second, generously: 2.5 to 5 are usual. */
const MOST_SLOTS_PER_SECOND = 10;
const LEAP_SLOTS = 150;

/** The slot that reads have to see: none may show an older state than one before it. */
export interface MonotoneSlot {
  readonly current: bigint;
  /** Says that a read at this slot was handed out. */
  raise(slot: bigint): void;
}

/**
 * Makes one. It rises no faster than a cluster can, counted from the first read. So an endpoint that claims a far future
 * slot does not make all others look old.
 *
 * @param now in milliseconds
 */
export function createMonotoneSlot(now: () => number): MonotoneSlot {
  let current = 0n;
  let first: { slot: bigint; at: number } | undefined;
  return {
    get current() {
      return current;
    },
    raise(slot) {
      first ??= { slot, at: now() };
      const seconds = Math.ceil((now() - first.at) / 1000);
      const most = first.slot + BigInt(seconds * MOST_SLOTS_PER_SECOND + LEAP_SLOTS);
      if (slot > current && slot <= most) current = slot;
    },
  };
}
