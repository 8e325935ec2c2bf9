import { OperatorError } from './operator-error.js';

const MOST_REASON_CHARACTERS = 1000;

/**
 * Reads the words of a decision.
 *
 * @param missing what to say where there are none
 * @throws OperatorError naming the fault.
 */
export function parseReason(
  text: string | undefined,
  missing = 'The creator has to know why: add --reason "...".',
): string {
  const reason = text?.trim() ?? '';
  if (reason === '') throw new OperatorError(missing);
  if (reason.length > MOST_REASON_CHARACTERS) {
    throw new OperatorError(
      `The reason has ${reason.length} characters; the most is ${MOST_REASON_CHARACTERS}.`,
    );
  }
  // PostgreSQL keeps no null characters, and a reader's terminal should see no others.
  if (/[^\P{Cc}\n]/u.test(reason)) throw new OperatorError('The reason holds a control character.');
  return reason;
}
