const CHARACTERS = 120;
/** Control, formatting (zero-width, bidirectional, invisible tags) and unpaired surrogate characters. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;
/** White space, and letters and marks that are as blank. */
const BLANK = /[\s\u034f\u115f\u1160\u2800\u3164\uffa0]+/gu;
/** Characters that read as a double quotation mark. */
const QUOTATION_MARK =
  /["\u00ab\u00bb\u02ba\u02ee\u02dd\u05f4\u201c-\u201f\u2033\u2036\u2e42\u275d\u275e\u301d-\u301f\uff02]/gu;

/** A creator’s or another program’s words on one line, bounded, inside quotation marks that they cannot close. */
export function quoted(words: string): string {
  const line = words
    .slice(0, CHARACTERS * 4)
    .replace(BLANK, ' ')
    .replace(HIDDEN, '')
    .replaceAll(/ {2,}/g, ' ')
    .replace(QUOTATION_MARK, "'")
    .trim();
  return `"${line.length <= CHARACTERS ? line : `${line.slice(0, CHARACTERS - 3).replace(HIDDEN, '')}...`}"`;
}
