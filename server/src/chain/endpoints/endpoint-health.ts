import type { EndpointError } from './endpoint.js';

const FIRST_BACKOFF_MS = 500;
const MOST_BACKOFF_MS = 60_000;
/** After this long in use, an endpoint that fails begins with the first backoff again. */
const STEADY_MS = 30_000;
/** An endpoint this far behind the newest one is chosen last: 10 s. */
export const LAG_SLOTS = 25;
/** One that is behind, and whose own slot has not moved for this long, is left. */
const STANDSTILL_MS = 10_000;
/** Until an endpoint has been out this long, its word is waited for. */
const WORD_WAIT_MS = 5_000;

/** The state of one endpoint: whether it is in use, its slot, and whether its word counts. */
export interface EndpointHealth {
  readonly isInUse: boolean;
  /** The newest slot that it told; 0 before the first. */
  readonly slot: number;
  /** When it was last heard of, in milliseconds of the clock. */
  readonly heardAt: number;
  /** Whether its word on a transaction is waited for: it is given, or has been missing for less than 5 s. */
  readonly isVoter: boolean;
  /** Whether it is out of use, and its backoff has ended. */
  readonly mayReturn: boolean;
  readonly failures: number;
  readonly requests: number;
  requested(): void;
  /** It answered, at a slot where the answer tells one. */
  answered(slot?: number): void;
  /** It gave its word on transactions. */
  voted(): void;
  /** Takes it out of use, for a time that doubles with each failure in a row. Gives the time in milliseconds. */
  leave(error: EndpointError): number;
  /** Puts it back into use. */
  returned(): void;
  /** Whether it is behind the newest slot, and its own slot does not move. Other endpoints cannot cause that. */
  standsStill(newestSlot: number): boolean;
}

/** @param random between 0 and 1, so that replicas do not come back at one time */
export function createEndpointHealth(now: () => number, random: () => number): EndpointHealth {
  let leftUntil: number | undefined;
  let returnedAt = Number.NEGATIVE_INFINITY;
  let inARow = 0;
  let outSince: number | undefined;
  let slot = 0;
  let slotMovedAt = now();
  let heardAt = Number.NEGATIVE_INFINITY;
  let failures = 0;
  let requests = 0;
  return {
    get isInUse() {
      return leftUntil === undefined;
    },
    get slot() {
      return slot;
    },
    get heardAt() {
      return heardAt;
    },
    get isVoter() {
      return outSince === undefined || now() - outSince < WORD_WAIT_MS;
    },
    get mayReturn() {
      return leftUntil !== undefined && now() >= leftUntil;
    },
    get failures() {
      return failures;
    },
    get requests() {
      return requests;
    },
    requested: () => (requests += 1),
    answered(told) {
      heardAt = now();
      if (told === undefined || told <= slot) return;
      slot = told;
      slotMovedAt = heardAt;
    },
    voted: () => (outSince = undefined),
    leave(error) {
      // A call that was under way as well: one failure, not two in a row.
      if (leftUntil !== undefined && now() < leftUntil) {
        leftUntil = Math.max(leftUntil, now() + error.retryAfterMs);
        return leftUntil - now();
      }
      if (leftUntil === undefined) failures += 1;
      if (leftUntil === undefined && now() - returnedAt > STEADY_MS) inARow = 0;
      inARow += 1;
      outSince ??= now();
      const backoff = Math.min(FIRST_BACKOFF_MS * 2 ** (inARow - 1), MOST_BACKOFF_MS);
      const ms = Math.max(backoff * (0.75 + random() / 2), error.retryAfterMs);
      leftUntil = now() + ms;
      return ms;
    },
    returned() {
      leftUntil = undefined;
      returnedAt = now();
      slotMovedAt = returnedAt;
    },
    standsStill: (newestSlot) => newestSlot - slot > LAG_SLOTS && now() - slotMovedAt >= STANDSTILL_MS,
  };
}
