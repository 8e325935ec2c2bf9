/** Work that is repeated in the background. */
export interface Rounds {
  /** Ends it, once the round that is under way has ended. */
  stop(): Promise<void>;
}

/**
 * Repeats work in rounds that do not overlap, because slow rounds would pile up.
 *
 * @param round must not reject; it returns true if work remains, and then the next round starts at once
 * @param everyMs time between the end of a round and the next one
 */
export function startRounds(
  round: () => Promise<unknown>,
  everyMs: number,
  { startsAtOnce }: { startsAtOnce: boolean },
): Rounds {
  const stopping = new AbortController();
  const { signal } = stopping;
  let wake = (): void => undefined;
  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, everyMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  const rounds = (async () => {
    if (!startsAtOnce) await pause();
    while (!signal.aborted) {
      const hasMore = (await round()) === true;
      if (!hasMore && !signal.aborted) await pause();
    }
  })();
  return {
    stop: () => {
      stopping.abort();
      wake();
      return rounds;
    },
  };
}
