import type { PerQueryBalance } from './accounts.js';

/** How many sequences below the highest one the program still remembers one by one. */
export const CHARGE_WINDOW_BITS = 256n;

/** How far above the highest sequence a charge may jump. */
export const MAX_SEQUENCE_JUMP = 1_024n;

/** The answer of `consume_query` to a sequence. */
export type SequenceState = 'free' | 'consumed' | 'too_old' | 'too_far';

/**
 * The program's answer to a charge of `sequence` against this snapshot of a balance: `free` is accepted,
 * `consumed` and `too_old` are `RunAlreadyConsumed`, `too_far` is `SequenceTooFar`.
 */
export function sequenceState(
  balance: Pick<PerQueryBalance, 'highestSequence' | 'window'>,
  sequence: bigint,
): SequenceState {
  if (sequence > balance.highestSequence) {
    return sequence - balance.highestSequence > MAX_SEQUENCE_JUMP ? 'too_far' : 'free';
  }
  const age = balance.highestSequence - sequence;
  if (age >= CHARGE_WINDOW_BITS) {
    return 'too_old';
  }
  return ((balance.window >> age) & 1n) === 1n ? 'consumed' : 'free';
}

/** True when this snapshot shows that `sequence` was charged; false for a sequence that is too old to tell. */
export function isSequenceConsumed(
  balance: Pick<PerQueryBalance, 'highestSequence' | 'window'>,
  sequence: bigint,
): boolean {
  return sequenceState(balance, sequence) === 'consumed';
}
