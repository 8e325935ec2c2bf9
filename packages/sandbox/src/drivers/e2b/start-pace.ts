import { setTimeout as delay } from 'node:timers/promises';

/** Limits the number of starts in a second. Starts keep the order of their requests. */
export class StartPace {
  readonly #intervalMs: number;
  /** Earliest time of the next start, in milliseconds of `performance.now`. */
  #next = 0;

  constructor(perSecond: number) {
    this.#intervalMs = 1000 / perSecond;
  }

  /** Resolves when it is this start's turn. @throws the signal's reason when it aborts before. */
  async turn(signal: AbortSignal): Promise<void> {
    const now = performance.now();
    const at = Math.max(now, this.#next);
    this.#next = at + this.#intervalMs;
    if (at > now) await delay(at - now, undefined, { signal });
  }
}
