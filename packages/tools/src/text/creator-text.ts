/**
 * Models read the texts of creators and agents: titles, descriptions, schema texts, output. These texts are data. They are
 * cleaned of characters that hide or reorder text, bounded, and marked as foreign.
 */

/** The start of every line of the marketplace in a result. */
export const MARKETPLACE_MARK = '[agent-rental]';

/** The mark, and imitations of it. */
const MARK_LOOKALIKE = /[[［【]\s*agent[\s_-]*rental\s*[\]］】]/gi;

/** Control, formatting (zero-width, bidirectional, invisible tags) and unpaired surrogate characters. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** White space and blank letters or marks. A long run of them moves the next text to another line. */
const BLANK = /[\s\u034f\u115f\u1160\u2800\u3164\uffa0]+/gu;

/** Hidden characters that ordinary text needs: layout, and the joiners of Persian, Indic scripts and emoji. */
const NEEDED = new Set(['\n', '\r', '\t', '\u200c', '\u200d']);

/** A line that needs no cleaning, like most: printable ASCII, no opening bracket of a mark, single spaces. */
const PLAIN_LINE = /^(?:[!-Z\\-~]+(?: [!-Z\\-~]+)*)?$/;

/** Removes the characters that hide or reorder text. Keeps line breaks and visible characters. */
export function cleanText(text: string): string {
  return text.replace(HIDDEN, (character) => (NEEDED.has(character) ? character : ''));
}

/**
 * One bounded line of a creator's text: cleaned, white space folded, cut with an ellipsis.
 *
 * @param maxLength in UTF-16 units, the ellipsis included.
 */
export function creatorLine(text: string, maxLength: number): string {
  if (text.length <= maxLength && PLAIN_LINE.test(text)) return text;
  // Cut first, so that a hostile megabyte costs nothing.
  const line = unmarked(cleanText(text.slice(0, maxLength * 4)))
    .replace(BLANK, ' ')
    .trim();
  if (line.length <= maxLength) return line;
  // The cut may split a surrogate pair; cleaning removes the remaining half.
  return `${cleanText(line.slice(0, maxLength - 1)).trimEnd()}…`;
}

/** Characters that read as a double quotation mark. */
const QUOTATION_MARK =
  /["\u00ab\u00bb\u02ba\u02ee\u02dd\u05f4\u201c-\u201f\u2033\u2036\u2e42\u275d\u275e\u301d-\u301f\uff02]/gu;

/** A creator's text inside quotation marks that it cannot close. */
export function quoteCreator(text: string, maxLength: number): string {
  return `"${creatorLine(text, maxLength).replace(QUOTATION_MARK, "'")}"`;
}

/** An agent's text output: cleaned, and without the marketplace's own mark. */
export function cleanOutput(text: string): string {
  return unmarked(cleanText(text));
}

/** Removes the marketplace's mark from foreign text. */
function unmarked(text: string): string {
  return text.replace(MARK_LOOKALIKE, '(agent-rental)');
}

/** JSON text of an agent's output: the same value, with hidden characters and the mark escaped. */
export function outputJson(value: unknown): string {
  return JSON.stringify(value)
    .replace(HIDDEN, escapeUnits)
    .replaceAll(MARKETPLACE_MARK, MARKETPLACE_MARK.replace('[', '\\u005b'));
}

function escapeUnits(character: string): string {
  if (NEEDED.has(character)) return character;
  let escaped = '';
  for (let index = 0; index < character.length; index += 1) {
    escaped += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }
  return escaped;
}

/** Cleans and bounds every string and key inside a JSON value. */
export function cleanJson(value: unknown, maxLength: number): unknown {
  if (typeof value === 'string') return bounded(value, maxLength);
  if (Array.isArray(value)) return value.map((item) => cleanJson(item, maxLength));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [cleanText(key), cleanJson(item, maxLength)]),
  );
}

function bounded(text: string, maxLength: number): string {
  const cleaned = unmarked(cleanText(text));
  return cleaned.length <= maxLength ? cleaned : `${cleanText(cleaned.slice(0, maxLength - 1))}…`;
}
