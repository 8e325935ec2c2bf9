/** A small fast generator of pseudo-random numbers (sfc32): the same seed gives the same sequence everywhere. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    this.#a = seed >>> 0;
    this.#b = 0x9e3779b9;
    this.#c = 0x243f6a88;
    for (let i = 0; i < 12; i += 1) {
      this.next();
    }
  }

  /** A whole number from 0 to 2^32 - 1. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** A whole number from 0 to `limit - 1`. */
  below(limit: number): number {
    return this.next() % limit;
  }

  /** True in `percent` of a hundred cases. */
  chance(percent: number): boolean {
    return this.next() < percent * 42_949_672.96;
  }

  /** One of the items, each as likely. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) {
      throw new RangeError('Nothing to pick from.');
    }
    return item;
  }

  /** One of the keys, as likely as its weight says. */
  weighted<K extends string>(weights: readonly (readonly [K, number])[]): K {
    let total = 0;
    for (const [, weight] of weights) {
      total += weight;
    }
    let at = this.below(total);
    for (const [key, weight] of weights) {
      at -= weight;
      if (at < 0) {
        return key;
      }
    }
    throw new RangeError('Nothing to pick from.');
  }

  /** 64 random bits. */
  u64(): bigint {
    return (BigInt(this.next()) << 32n) | BigInt(this.next());
  }

  /** A number from 1 to 2^64 - 1 whose length in bits is uniform, so that small ones are not rare. */
  anyLength(): bigint {
    return (this.u64() >> BigInt(this.below(64))) | 1n;
  }
}
