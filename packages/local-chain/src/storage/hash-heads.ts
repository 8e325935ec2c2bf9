const INITIAL_SLOTS = 4096;

/** A map from non-zero 32-bit hashes to non-zero 32-bit numbers in two typed arrays; 0 means absent. */
export class HashHeads {
  #keys = new Uint32Array(INITIAL_SLOTS);
  #values = new Uint32Array(INITIAL_SLOTS);
  #used = 0;

  get(hash: number): number {
    return this.#values[this.#slotOf(hash)] ?? 0;
  }

  set(hash: number, value: number): void {
    let slot = this.#slotOf(hash);
    if (this.#keys[slot] === 0) {
      // Half full is the limit: probing stays short.
      if ((this.#used + 1) * 2 > this.#keys.length) {
        this.#grow();
        slot = this.#slotOf(hash);
      }
      this.#keys[slot] = hash;
      this.#used += 1;
    }
    this.#values[slot] = value;
  }

  /** The slot that holds the hash, or the free one where it belongs (linear probing). */
  #slotOf(hash: number): number {
    const mask = this.#keys.length - 1;
    let slot = Math.imul(hash, 0x9e3779b1) & mask;
    while (this.#keys[slot] !== 0 && this.#keys[slot] !== hash) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const keys = this.#keys;
    const values = this.#values;
    this.#keys = new Uint32Array(keys.length * 2);
    this.#values = new Uint32Array(keys.length * 2);
    for (const [index, key] of keys.entries()) {
      if (key === 0) continue;
      const slot = this.#slotOf(key);
      this.#keys[slot] = key;
      this.#values[slot] = values[index] ?? 0;
    }
  }
}
