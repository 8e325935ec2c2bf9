/** Counts the runs that were requested and whose agents have not started yet. */
export interface StartGate {
  /**
   * Counts a run until `began` is called, when its agent starts, or `over`, when the run ends; later calls do nothing.
   *
   * @param receivedAt when its request was received, in milliseconds of `performance.now`.
   */
  enter(receivedAt: number): { began(): void; over(): void };
  /** The number of such runs. */
  readonly pending: number;
  /** Resolves when all of their agents have started, or after this many milliseconds. */
  idle(mostMs: number): Promise<void>;
}

/** @param onBegan gets the seconds from the request of a run to the first line of its agent. */
export function createStartGate(onBegan: (seconds: number) => void = () => undefined): StartGate {
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
    idle: (mostMs) =>
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
