import { boundedText } from '../../words.js';

/** Far more than a person reads; the API gives all of it. */
export const MOST_CHARACTERS = 100_000;

/**
 * What an agent returned, as text: JSON is indented, nothing is read as HTML, and characters that hide or reorder text are taken
 * out. What is longer than {@link MOST_CHARACTERS} is cut.
 */
export function outputText(output: unknown): { text: string; isCut: boolean } {
  const whole = typeof output === 'string' ? output : JSON.stringify(output, null, 2);
  return { text: boundedText(whole, MOST_CHARACTERS), isCut: whole.length > MOST_CHARACTERS };
}
