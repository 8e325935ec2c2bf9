import { EVENT_NAMES, EVENTS, type EventName, type RunSummary } from '@agent-rental/contract';
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

/** The kinds by which a person chooses events. */
export const EVENT_KINDS = ['Runs', 'Rentals', 'Agents', 'Account'] as const;
type EventKind = (typeof EVENT_KINDS)[number];

/** The kind of an event. */
export function eventKind(name: EventName): EventKind {
  const { to, seenBy } = EVENTS[name];
  if (to === 'creator') return 'Agents';
  if (name.startsWith('run.')) return 'Runs';
  return seenBy === 'rental' ? 'Rentals' : 'Account';
}

/** The events that people see, of a kind or all. A test of a webhook is for its webhook alone. */
export const shownEvents = (kind?: EventKind): EventName[] =>
  EVENT_NAMES.filter((name) => name !== 'webhook.test' && (kind === undefined || eventKind(name) === kind));
