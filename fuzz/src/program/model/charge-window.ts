import type { Verdict } from './errors.js';

/** How far a charge may jump above the highest sequence. */
export const MAX_JUMP = 1_024n;

/** How many sequences are told apart. */
export const WINDOW_WIDTH = 256n;

/** What is remembered of charges: the highest sequence, and bit i for sequence `highest - i`. */
export interface ChargeWindow {
  highest: bigint;
  bits: bigint;
}

/**
 * Charges a sequence: the new memory, or the refusal. Of any width, so that a small one can be tried
 * exhaustively.
 */
export function chargeSequence(
  { highest, bits }: ChargeWindow,
  sequence: bigint,
  width = WINDOW_WIDTH,
): ChargeWindow | string {
  if (sequence > highest) {
    const jump = sequence - highest;
    return jump > MAX_JUMP
      ? 'SequenceTooFar'
      : { highest: sequence, bits: BigInt.asUintN(Number(width), (bits << jump) | 1n) };
  }
  const age = highest - sequence;
  if (age >= width || ((bits >> age) & 1n) === 1n) {
    return 'RunAlreadyConsumed';
  }
  return { highest, bits: bits | (1n << age) };
}

/**
 * The same rule from first principles: every sequence that was ever charged, in a set. A sequence is charged unless it
 * was before, is too far below the highest one to tell, or too far above it.
 */
export class ChargedSet {
  readonly #charged = new Set<bigint>();
  readonly #width: bigint;
  #highest = 0n;

  constructor(width = WINDOW_WIDTH) {
    this.#width = width;
  }

  /** The same memory, to go on apart. */
  copy(): ChargedSet {
    const copy = new ChargedSet(this.#width);
    this.#charged.forEach((sequence) => copy.add(sequence));
    return copy;
  }

  /** The highest sequence charged; 0 before the first. */
  get highest(): bigint {
    return this.#highest;
  }

  /** What becomes of charging a sequence: null when it would be charged. */
  verdict(sequence: bigint): Verdict {
    if (sequence > this.#highest + MAX_JUMP) {
      return 'SequenceTooFar';
    }
    const isForgotten = sequence + this.#width <= this.#highest;
    return isForgotten || this.#charged.has(sequence) ? 'RunAlreadyConsumed' : null;
  }

  /** Remembers a charge. */
  add(sequence: bigint): void {
    this.#charged.add(sequence);
    if (sequence > this.#highest) {
      this.#highest = sequence;
    }
  }
}
