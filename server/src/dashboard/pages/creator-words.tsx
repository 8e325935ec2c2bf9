import { cleanLine, cleanText } from '../../listings/index.js';

const TITLE_CHARACTERS = 120;
/** Characters that read as a double quotation mark. */
const QUOTATION_MARK = /["\u00ab\u00bb\u201c-\u201f\u2033\u2036\u301d-\u301f\uff02]/gu;

/** A creator's title on one line, inside quotation marks that it cannot close. */
export function quotedTitle(title: string): string {
  const line = cleanLine(title.slice(0, TITLE_CHARACTERS * 4)).replaceAll(QUOTATION_MARK, "'");
  return `"${cut(line, TITLE_CHARACTERS)}"`;
}

/** Text that a creator or a reviewer wrote, kept apart from the service's own words around it. */
export function Words({ text, characters }: { text: string; characters: number }) {
  return <bdi class="words">{cut(cleanText(text.slice(0, characters * 4)), characters)}</bdi>;
}

function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters - 3)}...`;
}
