import type { Owner } from './fair-shares.js';

interface Waiter<T> {
  give(thing: T): void;
  refuse(error: unknown): void;
}

/** Callers that wait for something, in a queue for each owner. Within a queue: first in, first out. */
export class FairQueue<T> {
  /** Owners with waiting callers. An owner moves to the end when one of its callers was given a thing. */
  readonly #queues = new Map<Owner, Set<Waiter<T>>>();
  #length = 0;

  /** Number of waiting callers. */
  get length(): number {
    return this.#length;
  }

  /** Owners with waiting callers, the one that has waited longest since it was given a thing first. */
  owners(): IterableIterator<Owner> {
    return this.#queues.keys();
  }

  /** How many calls of an owner wait. */
  waitingOf(owner: Owner): number {
    return this.#queues.get(owner)?.size ?? 0;
  }

  /**
   * Waits for a thing.
   * @throws what `late` makes when it takes longer than `maxWaitMs`; the signal's reason when it aborts; what
   * `refuseAll` was given.
   */
  wait(options: {
    owner: Owner;
    maxWaitMs: number;
    late(): Error;
    signal?: AbortSignal | undefined;
  }): Promise<T> {
    const { owner, maxWaitMs, late, signal } = options;
    return new Promise((resolve, reject) => {
      const stopWaiting = (): void => {
        this.#remove(owner, waiter);
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
      this.#add(owner, waiter);
    });
  }

  /** Gives a thing to the first caller of an owner, which has to have one. */
  give(owner: Owner, thing: T): void {
    const queue = this.#queues.get(owner);
    const [first] = queue ?? [];
    first?.give(thing);
    if (queue === undefined || queue.size === 0) return;
    this.#queues.delete(owner);
    this.#queues.set(owner, queue);
  }

  /** Refuses all callers. */
  refuseAll(reason: () => Error): void {
    for (const queue of this.#queues.values()) {
      for (const waiter of queue) waiter.refuse(reason());
    }
  }

  #add(owner: Owner, waiter: Waiter<T>): void {
    const queue = this.#queues.get(owner) ?? new Set();
    this.#queues.set(owner, queue.add(waiter));
    this.#length += 1;
  }

  #remove(owner: Owner, waiter: Waiter<T>): void {
    const queue = this.#queues.get(owner);
    if (queue?.delete(waiter) !== true) return;
    this.#length -= 1;
    if (queue.size === 0) this.#queues.delete(owner);
  }
}
