import { PAUSE_UNIT, PAUSE_WINDOW } from '../model/pauses.js';

const RECLAIM_AFTER = 604_800n;

/** A listing's facts for the history, read from the chain's bytes. */
export interface ListingFacts {
  /** By its creator, or by a suspension. */
  isPaused: boolean;
  isSuspended: boolean;
  pausedAt: bigint;
  price: bigint;
}

/**
 * All pauses of a listing, seen from outside. It checks the rule about pauses without the program's compact memory of them. It
 * judges nothing after the clock went back, or after a time in the account changed without an instruction.
 */
export class ListingHistory {
  readonly #pauses: { from: bigint; to: bigint }[] = [];
  #facts: ListingFacts;
  #lastSeen: bigint;
  #isReliable: boolean;

  /** Starts with a new listing. */
  constructor(facts: ListingFacts, now: bigint) {
    this.#facts = facts;
    this.#lastSeen = now;
    this.#isReliable = now > 0n;
  }

  /** Records an update of the listing. */
  update(before: ListingFacts, facts: ListingFacts, now: bigint): void {
    this.#knows(before, now);
    if (before.isPaused && !facts.isPaused) {
      this.#pauses.push({ from: before.pausedAt, to: now });
    }
    this.#facts = facts;
  }

  #see(now: bigint): void {
    this.#isReliable &&= now >= this.#lastSeen;
    this.#lastSeen = now;
  }

  /** Whether the history matches the present listing. */
  #knows(facts: ListingFacts, now: bigint): boolean {
    this.#see(now);
    this.#isReliable &&= facts.pausedAt === this.#facts.pausedAt;
    return this.#isReliable;
  }

  #pausedWithin(window: bigint, now: bigint): bigint {
    const { isPaused, pausedAt } = this.#facts;
    return this.#pauses.reduce(
      (sum, { from, to }) => {
        const start = from > now - window ? from : now - window;
        return to > start ? sum + to - start : sum;
      },
      isPaused ? now - pausedAt : 0n,
    );
  }

  /** Describes the fault of an allowed or refused reclaim because of pauses, or null. */
  judgeReclaim(isAllowed: boolean, facts: ListingFacts, now: bigint): string | null {
    if (!this.#knows(facts, now)) {
      return null;
    }
    const least = this.#pausedWithin(PAUSE_WINDOW, now);
    const most = this.#pausedWithin(PAUSE_WINDOW + PAUSE_UNIT, now);
    if (!isAllowed && least >= RECLAIM_AFTER) {
      return `a reclaim was refused after ${least} seconds of pauses within 30 days`;
    }
    return isAllowed && most + PAUSE_UNIT <= RECLAIM_AFTER
      ? `a reclaim was allowed after ${most} seconds of pauses within 30.5 days`
      : null;
  }
}
