import type { Sandbox } from '../sandbox.js';

/** The unused sandboxes of a pool. The one with the longest wait comes first. */
export class Reserve {
  readonly #size: number;
  #waiting: { sandbox: Sandbox; since: number }[] = [];
  /** Time at which the reserve fell below its size, in milliseconds of `performance.now`; undefined while it is full. */
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

  /** Time below its size, in milliseconds. For a full reserve: the time of the last shortage. */
  get refillMs(): number {
    return this.#shortSince === undefined ? this.#lastRefillMs : performance.now() - this.#shortSince;
  }

  /** Start of the longest wait, in milliseconds of `performance.now`. */
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

  /** Removes a sandbox; false when the reserve does not have it. */
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
