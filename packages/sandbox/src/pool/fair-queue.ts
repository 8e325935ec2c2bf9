import type { Owner } from './fair-shares.js';

interface Waiter<T> {
  give(thing: T): void;
  refuse(error: unknown): void;
}

/** Waiting callers, in a queue for each owner. Each queue is first in, first out. */
export class FairQueue<T> {
  /** Owners with waiting callers. An owner moves to the end when one of its callers gets a thing. */
  readonly #queues = new Map<Owner, Set<Waiter<T>>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Owners with waiting callers. The owner with the longest wait since its last thing comes first. */
  owners(): IterableIterator<Owner> {
    return this.#queues.keys();
  }

  waitingOf(owner: Owner): number {
    return this.#queues.get(owner)?.size ?? 0;
  }

  /**
   * Waits for a thing.
   * @throws the error of `late` after `maxWaitMs`; the signal's reason when it aborts; the error of `refuseAll`.
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

  /** Gives a thing to the first caller of an owner. The owner must have a waiting caller. */
  give(owner: Owner, thing: T): void {
    const queue = this.#queues.get(owner);
    const [first] = queue ?? [];
    first?.give(thing);
    if (queue === undefined || queue.size === 0) return;
    this.#queues.delete(owner);
    this.#queues.set(owner, queue);
  }

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
