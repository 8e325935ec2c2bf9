import type { RunSummary } from '@agent-rental/contract';
import { cleanLine, cleanText } from '../platform/clean-text.js';

/** The words for the statuses of runs. */
export const RUN_STATUS_WORDS: Readonly<Record<RunSummary['status'], string>> = {
  running: 'Running',
  completed: 'Completed',
  failed: 'Failed',
  undelivered: 'Not served',
};

const TITLE_CHARACTERS = 120;
/** Characters that read as a double quotation mark. */
const QUOTATION_MARK = /["\u00ab\u00bb\u201c-\u201f\u2033\u2036\u301d-\u301f\uff02]/gu;

/** A creator's title on one line, inside quotation marks that it cannot close. */
export function quotedTitle(title: string): string {
  const line = cleanLine(title.slice(0, TITLE_CHARACTERS * 4)).replaceAll(QUOTATION_MARK, "'");
  return `"${cut(line, TITLE_CHARACTERS)}"`;
}

/** A stranger's text, cleaned of characters that hide or reorder text, and cut to so many characters. */
export function boundedText(text: string, characters: number): string {
  return cut(cleanText(text.slice(0, characters * 4)), characters);
}

function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters - 3)}...`;
}
