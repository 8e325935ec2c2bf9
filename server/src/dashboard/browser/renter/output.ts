import { boundedText } from '../../words.js';

/** Far more than a person reads; the API gives all of it. */
export const MOST_CHARACTERS = 100_000;

/**
 * The output of an agent as text. Indents JSON, reads nothing as HTML, and removes characters that hide or reorder
 * text. Cuts the text at {@link MOST_CHARACTERS}.
 */
export function outputText(output: unknown): { text: string; isCut: boolean } {
  const whole = typeof output === 'string' ? output : JSON.stringify(output, null, 2);
  return { text: boundedText(whole, MOST_CHARACTERS), isCut: whole.length > MOST_CHARACTERS };
}
