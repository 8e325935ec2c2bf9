/** How far a charge may jump above the highest sequence. */
export const MAX_JUMP = 1_024n;

/** How many sequences are told apart. */
export const WINDOW_WIDTH = 256n;

/** The sequences that were charged and are told apart. The program keeps the highest, and a bit for each below it. */
export type Charged = readonly bigint[];

/** The highest sequence charged; 0 before the first. */
export function highestOf(charged: Charged): bigint {
  return charged.reduce((highest, sequence) => (sequence > highest ? sequence : highest), 0n);
}

/**
 * Charges a sequence, unless it was charged before, is too far below the highest one to tell, or too far above it.
 *
 * @returns the new memory, or the refusal
 */
export function chargeSequence(charged: Charged, sequence: bigint): Charged | string {
  const highest = highestOf(charged);
  if (sequence > highest + MAX_JUMP) {
    return 'SequenceTooFar';
  }
  if (sequence + WINDOW_WIDTH <= highest || charged.includes(sequence)) {
    return 'RunAlreadyConsumed';
  }
  const all = [...charged, sequence];
  const lowest = highestOf(all) - WINDOW_WIDTH;
  return all.filter((each) => each > lowest);
}

/** The memory as a number: bit i for the sequence `highest - i`. */
export function windowBits(charged: Charged): bigint {
  const highest = highestOf(charged);
  return charged.reduce((bits, sequence) => bits | (1n << (highest - sequence)), 0n);
}
