/** The largest jump of a charge above the highest sequence. */
export const MAX_JUMP = 1_024n;

/** The number of sequences in the window. */
export const WINDOW_WIDTH = 256n;

/** The charged sequences in the window. The program keeps the highest one, and a bit for each sequence below it. */
export type Charged = readonly bigint[];

/** The highest charged sequence; 0 before the first. */
export function highestOf(charged: Charged): bigint {
  return charged.reduce((highest, sequence) => (sequence > highest ? sequence : highest), 0n);
}

/**
 * Charges a sequence. Refuses a charged sequence, a sequence below the window, and a jump that is too large.
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
