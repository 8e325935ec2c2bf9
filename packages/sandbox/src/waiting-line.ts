interface Waiter<T> {
  give(thing: T): void;
  refuse(error: unknown): void;
}

/** Those who wait for something, in the order in which they came. */
export class WaitingLine<T> {
  readonly #waiters = new Set<Waiter<T>>();

  get length(): number {
    return this.#waiters.size;
  }

  /**
   * Waits for a thing.
   * @throws what `late` makes when it takes longer than `maxWaitMs`; the signal's reason when it aborts; what
   * `refuseAll` was given.
   */
  wait(options: { maxWaitMs: number; late(): Error; signal?: AbortSignal | undefined }): Promise<T> {
    const { maxWaitMs, late, signal } = options;
    return new Promise((resolve, reject) => {
      const stopWaiting = (): void => {
        this.#waiters.delete(waiter);
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter<T> = {
        give(thing) {
          stopWaiting();
          resolve(thing);
        },
        refuse(error) {
          stopWaiting();
          reject(error);
        },
      };
      const timer = setTimeout(() => waiter.refuse(late()), maxWaitMs);
      const onAbort = (): void => waiter.refuse(signal?.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiters.add(waiter);
    });
  }

  /** Gives a thing to whoever came first; there has to be somebody. */
  give(thing: T): void {
    const [first] = this.#waiters;
    first?.give(thing);
  }

  /** Sends everybody away. */
  refuseAll(reason: () => Error): void {
    for (const waiter of this.#waiters) waiter.refuse(reason());
  }
}
