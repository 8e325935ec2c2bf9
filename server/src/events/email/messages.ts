import {
  EMAIL_CONFIRMATION_HOURS,
  EMAIL_MOST_EVENTS,
  EMAIL_PATHS,
  EVENTS_PAGE_PATH,
  eventPage,
  eventWords,
  type EventName,
} from '@agent-rental/contract';
import { cleanLine } from '../../platform/clean-text.js';
import type { Message } from './mailer.js';

/** An event that a message tells. */
export interface ToldEvent {
  name: EventName;
  data: object;
  /** The title of its listing. */
  title: string | null;
  created_at: Date;
}

const TITLE_CHARACTERS = 120;
/** Quotes a stranger's words. Mail programs make links of addresses: an address of a stranger must not be one. */
function quote(words: string): string {
  const line = cleanLine(words.slice(0, TITLE_CHARACTERS * 4)).slice(0, TITLE_CHARACTERS);
  return `\u201c${line
    .replaceAll(/["\u201c\u201d]/g, "'")
    .replaceAll('://', '[:]//')
    .replaceAll(/\.(?=\p{L})/gu, '[.]')}\u201d`;
}
const wordsOf = (event: ToldEvent) => eventWords(event, event.title ?? undefined, quote);

/** The message by which the reader of an address confirms that it may hear of a wallet's events. */
export function confirmation(
  baseUrl: string,
  { to, wallet, token }: { to: string; wallet: string; token: string },
): Message {
  return {
    to,
    subject: 'Confirm your e-mail address',
    text: [
      `The wallet ${wallet} of ${baseUrl} wants to send its events to this address.`,
      `If that is your wallet, confirm within ${EMAIL_CONFIRMATION_HOURS} hours:`,
      `${baseUrl}${EMAIL_PATHS.confirm}?token=${token}`,
      'If it is not, do nothing: no other message will come.',
    ].join('\n\n'),
  };
}

/** Events to tell, the oldest first. */
interface Digest {
  to: string;
  wallet: string;
  token: string;
  events: readonly ToldEvent[];
  /** Of all events, of which `events` are the first. */
  total: number;
}

/** The message that tells events. */
export function digest(baseUrl: string, { to, wallet, token, events, total }: Digest): Message {
  const [first] = events;
  const page = total === 1 && first ? eventPage(first) : undefined;
  const told = events.slice(0, EMAIL_MOST_EVENTS);
  const unsubscribeUrl = `${baseUrl}${EMAIL_PATHS.unsubscribe}?token=${token}`;
  return {
    to,
    subject: total === 1 && first ? wordsOf(first) : `${total} events of your wallet`,
    text: [
      told
        .map(
          (event) =>
            `${event.created_at.toISOString().slice(0, 16).replace('T', ' ')} UTC: ${wordsOf(event)}`,
        )
        .join('\n'),
      ...(total > told.length ? [`and ${total - told.length} more`] : []),
      ...(page === undefined ? [] : [`See it: ${baseUrl}${page}`]),
      `All events of ${wallet}: ${baseUrl}${EVENTS_PAGE_PATH}`,
      `Get no more of these messages: ${unsubscribeUrl}`,
    ].join('\n\n'),
    unsubscribeUrl,
  };
}
