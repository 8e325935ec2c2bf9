import type { Sandbox } from '../sandbox.js';

/** The owner of sandboxes in use. */
export type Owner = string | symbol;

/** Part of all slots, reserved for owners without a sandbox in use. */
const RESERVED_PART = 0.25;

/** Most sandboxes of one owner in use, in a pool with `maxActive` slots. */
export function slotsOfOneOwner(maxActive: number): number {
  return maxActive - Math.floor(maxActive * RESERVED_PART);
}

/**
 * The sandboxes in use, by owner. It decides which owner may have another one: the last quarter of the slots is for owners
 * without a sandbox. Otherwise two owners with long runs would take all slots, and a third would wait for the end of a run.
 */
export class FairShares {
  readonly #maxActive: number;
  readonly #open: number;
  readonly #ownerOf = new Map<Sandbox, Owner>();
  readonly #counts = new Map<Owner, number>();

  constructor(maxActive: number) {
    this.#maxActive = maxActive;
    this.#open = slotsOfOneOwner(maxActive);
  }

  get size(): number {
    return this.#ownerOf.size;
  }

  sandboxes(): Sandbox[] {
    return [...this.#ownerOf.keys()];
  }

  add(owner: Owner, sandbox: Sandbox): void {
    this.#ownerOf.set(sandbox, owner);
    this.#counts.set(owner, this.#countOf(owner) + 1);
  }

  remove(sandbox: Sandbox): void {
    const owner = this.#ownerOf.get(sandbox);
    if (owner === undefined) return;
    this.#ownerOf.delete(sandbox);
    const count = this.#countOf(owner) - 1;
    if (count > 0) this.#counts.set(owner, count);
    else this.#counts.delete(owner);
  }

  /** Whether there is a slot for another sandbox of an owner. */
  mayTake(owner: Owner): boolean {
    return this.size < this.#open || (this.size < this.#maxActive && this.#countOf(owner) === 0);
  }

  /** The owner that gets the next slot: the one with the fewest sandboxes in use, or the first of equal ones. */
  next(owners: Iterable<Owner>): Owner | undefined {
    let next: Owner | undefined;
    for (const owner of owners) {
      if (!this.mayTake(owner)) continue;
      if (next === undefined || this.#countOf(owner) < this.#countOf(next)) next = owner;
    }
    return next;
  }

  /** How many waiting calls could have a slot at this moment. */
  slotsFor(owners: Iterable<Owner>, waitingOf: (owner: Owner) => number): number {
    let open = Math.max(0, this.#open - this.size);
    let slots = 0;
    for (const owner of owners) {
      const fromOpen = Math.min(waitingOf(owner), open);
      open -= fromOpen;
      slots += fromOpen === 0 && this.#countOf(owner) === 0 ? 1 : fromOpen;
    }
    return Math.min(slots, this.#maxActive - this.size);
  }

  #countOf(owner: Owner): number {
    return this.#counts.get(owner) ?? 0;
  }
}
