/**
 * Everything a creator or an agent wrote (titles, descriptions, schema texts, output) ends up in front of a
 * model. It is data: cleaned of characters that hide or reorder text, bounded, and marked as theirs.
 */

/** Begins every line that the marketplace itself says inside a result. */
export const MARKETPLACE_MARK = '[agent-rental]';

/** The mark, and spellings of it that imitate it. */
const MARK_LOOKALIKE = /[[［【]\s*agent[\s_-]*rental\s*[\]］】]/gi;

/** Control, formatting (zero-width, bidirectional, invisible tags) and unpaired surrogate characters. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;

/** White space, and letters and marks that are as blank: a run of them pushes what follows onto another line. */
const BLANK = /[\s\u034f\u115f\u1160\u2800\u3164\uffa0]+/gu;

/** Of those, what ordinary text needs: layout, and the joiners of Persian, Indic scripts and emoji. */
const NEEDED = new Set(['\n', '\r', '\t', '\u200c', '\u200d']);

/** Most lines: printable ASCII, no bracket to begin a mark, single spaces between words: they need no cleaning. */
const PLAIN_LINE = /^(?:[!-Z\\-~]+(?: [!-Z\\-~]+)*)?$/;

/** Removes the characters that hide or reorder text; leaves line breaks and everything visible. */
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
  // Bounded before the work, so that a hostile megabyte costs nothing.
  const line = unmarked(cleanText(text.slice(0, maxLength * 4)))
    .replace(BLANK, ' ')
    .trim();
  if (line.length <= maxLength) return line;
  // The cut may fall inside a surrogate pair; cleaning removes the half that is left.
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

/** Takes the marketplace's mark out of others' words. */
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

/** Cleans every string inside a JSON value, keys included, and bounds each one. */
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
