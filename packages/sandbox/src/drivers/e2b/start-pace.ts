import { setTimeout as delay } from 'node:timers/promises';

/** Lets starts happen no faster than a number in a second, in the order in which they were asked for. */
export class StartPace {
  readonly #intervalMs: number;
  /** When the next start may happen, in milliseconds of `performance.now`. */
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
