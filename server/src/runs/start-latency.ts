/** Runs that were asked for and have not begun to work yet. */
export interface StartLatency {
  /**
   * One more. Gives what to call once its agent has begun, and in any case when it is over; the first call counts.
   *
   * @param receivedAt when its request was received, in milliseconds of `performance.now`.
   */
  enter(receivedAt: number): { began(): void; over(): void };
  /** How many there are. */
  readonly pending: number;
  /** Resolves when all of them have begun, after so many milliseconds at the latest. */
  allBegun(mostMs: number): Promise<void>;
}

/** @param onBegan hears how long a run took from its request to the first line of its agent, in seconds. */
export function createStartLatency(onBegan: (seconds: number) => void = () => undefined): StartLatency {
  let pending = 0;
  const waiting = new Set<() => void>();
  return {
    get pending() {
      return pending;
    },
    enter(receivedAt) {
      pending += 1;
      let isPending = true;
      const leave = (): boolean => {
        if (!isPending) return false;
        isPending = false;
        pending -= 1;
        if (pending === 0) for (const tell of waiting) tell();
        return true;
      };
      return {
        began: () => {
          if (leave()) onBegan((performance.now() - receivedAt) / 1000);
        },
        over: () => void leave(),
      };
    },
    allBegun: (mostMs) =>
      new Promise((resolve) => {
        const tell = (): void => {
          clearTimeout(timer);
          waiting.delete(tell);
          resolve();
        };
        const timer = setTimeout(tell, mostMs);
        waiting.add(tell);
        if (pending === 0) tell();
      }),
  };
}
