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
/** A creator's title or name on one line, cleaned of characters that hide or reorder text. */
export function titleLine(title: string): string {
  return cut(cleanLine(title.slice(0, TITLE_CHARACTERS * 4)), TITLE_CHARACTERS);
}

/** A stranger's text, cleaned of characters that hide or reorder text, and cut to so many characters. */
export function boundedText(text: string, characters: number): string {
  return cut(cleanText(text.slice(0, characters * 4)), characters);
}

function cut(text: string, characters: number): string {
  return text.length <= characters ? text : `${text.slice(0, characters - 3)}...`;
}
