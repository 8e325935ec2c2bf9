/** From the answer to a send until the next. */
const PAUSE_MS = 1_000;
/** An unanswered send counts as answered after this time, in which an answer is slow and not yet lost. */
const PATIENCE_MS = 5_000;

/** A transaction that is sent again and again. */
export interface Broadcast {
  /** Resolves when the first send was answered, or its answer is late. Never rejects. */
  readonly started: Promise<void>;
  /** Sends no more. */
  stop(): void;
}

/**
 * Sends a transaction until `stop`: at once, and again one second after each answer. A busy endpoint, which answers late,
 * is so not asked to do the same several times at once.
 *
 * @param send its failure is no reason to stop: another endpoint, or a later time, may take the transaction.
 */
export function broadcast(send: () => Promise<unknown>): Broadcast {
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let endWait: () => void = () => undefined;

  const wait = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      endWait = resolve;
      timer = setTimeout(resolve, ms);
    });

  async function sendOnce(): Promise<void> {
    const answered = send().catch(() => undefined);
    await Promise.race([answered, wait(PATIENCE_MS)]);
    clearTimeout(timer);
  }

  async function repeat(started: Promise<void>): Promise<void> {
    await started;
    for (;;) {
      if (isStopped) return;
      await wait(PAUSE_MS);
      // `stop` ends the wait, too.
      if (isStopped) return;
      await sendOnce();
    }
  }

  const started = sendOnce();
  void repeat(started);
  return {
    started,
    stop() {
      isStopped = true;
      clearTimeout(timer);
      endWait();
    },
  };
}
