import { PAUSE_UNIT, PAUSE_WINDOW } from '../model/pauses.js';

const RECLAIM_AFTER = 604_800n;

/** What the chain's bytes say of a listing that is of interest here. */
export interface ListingFacts {
  isPaused: boolean;
  pausedAt: bigint;
  price: bigint;
}

/**
 * All pauses that a listing ever had, seen from outside: the rule about them without the economy of the few bytes in
 * which the program remembers them. Judges nothing once a clock went back or a time in the
 * account was changed by other means than an instruction.
 */
export class ListingHistory {
  readonly #pauses: { from: bigint; to: bigint }[] = [];
  #facts: ListingFacts;
  #lastSeen: bigint;
  #isReliable: boolean;

  /** Begins with a listing that was just created. */
  constructor(facts: ListingFacts, now: bigint) {
    this.#facts = facts;
    this.#lastSeen = now;
    this.#isReliable = now > 0n;
  }

  /** Takes in what an update made of what the listing was. */
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

  /** Whether the history is that of the listing as it is now. */
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

  /** What is wrong about a reclaim because of pauses that was allowed or refused; null when nothing is. */
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
