import type { Sandbox } from '../sandbox.js';

/** The sandboxes of a pool that wait to be used, the one that has waited longest first. */
export class Reserve {
  readonly #size: number;
  #waiting: { sandbox: Sandbox; since: number }[] = [];
  /** When it fell below its size, in milliseconds of `performance.now`; undefined while it is full. */
  #shortSince: number | undefined;
  #lastRefillMs = 0;

  constructor(size: number) {
    this.#size = size;
    if (size > 0) this.#shortSince = performance.now();
  }

  get count(): number {
    return this.#waiting.length;
  }

  get isFull(): boolean {
    return this.#waiting.length >= this.#size;
  }

  /** For how long it has been below its size; where it is full, for how long it was the last time. */
  get refillMs(): number {
    return this.#shortSince === undefined ? this.#lastRefillMs : performance.now() - this.#shortSince;
  }

  /** When the first one began to wait, in milliseconds of `performance.now`. */
  get oldestSince(): number | undefined {
    return this.#waiting[0]?.since;
  }

  add(sandbox: Sandbox): void {
    this.#waiting.push({ sandbox, since: performance.now() });
    this.#noteShortage();
  }

  takeOldest(): Sandbox | undefined {
    const oldest = this.#waiting.shift();
    this.#noteShortage();
    return oldest?.sandbox;
  }

  /** Takes that one out; false when it is not there. */
  remove(sandbox: Sandbox): boolean {
    const left = this.#waiting.filter((one) => one.sandbox !== sandbox);
    const found = left.length < this.#waiting.length;
    this.#waiting = left;
    this.#noteShortage();
    return found;
  }

  takeAll(): Sandbox[] {
    return this.#waiting.splice(0).map(({ sandbox }) => sandbox);
  }

  #noteShortage(): void {
    if (!this.isFull) this.#shortSince ??= performance.now();
    else if (this.#shortSince !== undefined) {
      this.#lastRefillMs = this.refillMs;
      this.#shortSince = undefined;
    }
  }
}
