/** Runs that were asked for and have not begun to work yet. */
export interface Beginnings {
  /**
   * One more. Gives what to call once its agent has begun, and in any case when it is over; the first call counts.
   *
   * @param receivedAt when its request was received, in milliseconds of `performance.now`.
   */
  enter(receivedAt: number): { began(): void; over(): void };
  /** How many there are. */
  readonly pending: number;
}

/** @param onBegan hears how long a run took from its request to the first line of its agent, in seconds. */
export function createBeginnings(onBegan: (seconds: number) => void = () => undefined): Beginnings {
  let pending = 0;
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
        return true;
      };
      return {
        began: () => {
          if (leave()) onBegan((performance.now() - receivedAt) / 1000);
        },
        over: () => void leave(),
      };
    },
  };
}
