import { setTimeout as delay } from 'node:timers/promises';

/** The longest time between two starts after refusals. */
const LONGEST_INTERVAL_MS = 30_000;

/** Limits the number of starts in a second. Starts keep the order of their requests. A refusal of the service slows them down. */
export class StartPace {
  readonly #shortestMs: number;
  #intervalMs: number;
  /** Earliest time of the next start, in milliseconds of `performance.now`. */
  #next = 0;

  constructor(perSecond: number) {
    this.#shortestMs = 1000 / perSecond;
    this.#intervalMs = this.#shortestMs;
  }

  /** Resolves when it is this start's turn. @throws the signal's reason when it aborts before. */
  async turn(signal: AbortSignal): Promise<void> {
    const now = performance.now();
    const at = Math.max(now, this.#next);
    this.#next = at + this.#intervalMs;
    if (at > now) await delay(at - now, undefined, { signal });
  }

  /** The service refused a start because there were too many: the next ones come half as often, at least a second apart. */
  slowDown(): void {
    this.#intervalMs = Math.min(LONGEST_INTERVAL_MS, Math.max(1_000, this.#intervalMs * 2));
    this.#next = Math.max(this.#next, performance.now() + this.#intervalMs);
  }

  /** A start succeeded: the next ones come more often, up to the limit. */
  speedUp(): void {
    this.#intervalMs = Math.max(this.#shortestMs, this.#intervalMs / 2);
  }
}
