/** Control, formatting (zero-width, bidirectional, invisible tags) and unpaired surrogate characters. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** Of those, the characters of ordinary text: line breaks, and the joiners of Persian, Indic scripts and emoji. */
const NEEDED = new Set(['\n', '\u200c', '\u200d']);

/** Text that a user wrote for others to read: without characters that hide or reorder text, and trimmed. */
export function cleanText(text: string): string {
  return text.replace(/\r\n?/g, '\n').replaceAll('\t', ' ').replace(HIDDEN, withoutUnneeded).trim();
}

/** Removes the characters that hide or reorder text, and changes no other. */
export function withoutHidden(text: string): string {
  return text.replace(HIDDEN, withoutUnneeded);
}

const withoutUnneeded = (character: string) => (NEEDED.has(character) ? character : '');

/** The same on one line. */
export function cleanLine(text: string): string {
  return cleanText(text.replace(/\s+/g, ' ')).replaceAll(/ {2,}/g, ' ');
}

/**
 * Marks a cut. ASCII, because one character beyond Latin-1 makes V8 keep the whole page in two bytes a character.
 * Then sending it costs twice as much.
 */
export const ELLIPSIS = '...';
