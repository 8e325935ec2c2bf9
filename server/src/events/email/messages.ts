import {
  EMAIL_CONFIRMATION_HOURS,
  EMAIL_MOST_EVENTS,
  EMAIL_PATHS,
  EVENTS_PAGE_PATH,
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
const cleaned = (text: string) => cleanLine(text.slice(0, TITLE_CHARACTERS * 4)).slice(0, TITLE_CHARACTERS);
const wordsOf = (event: ToldEvent) => eventWords(event, event.title ?? 'an agent', cleaned);

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

/** The message that tells events, the oldest first. @param total of the events, of which `events` are the first */
export function digest(
  baseUrl: string,
  { to, token, events, total }: { to: string; token: string; events: readonly ToldEvent[]; total: number },
): Message {
  const [first] = events;
  const told = events.slice(0, EMAIL_MOST_EVENTS);
  const unsubscribeUrl = `${baseUrl}${EMAIL_PATHS.unsubscribe}?token=${token}`;
  return {
    to,
    subject: total === 1 && first ? wordsOf(first) : `${total} events of your agents`,
    text: [
      told
        .map(
          (event) =>
            `${event.created_at.toISOString().slice(0, 16).replace('T', ' ')} UTC: ${wordsOf(event)}`,
        )
        .join('\n'),
      ...(total > told.length ? [`and ${total - told.length} more`] : []),
      `All events: ${baseUrl}${EVENTS_PAGE_PATH}`,
      `Get no more of these messages: ${unsubscribeUrl}`,
    ].join('\n\n'),
    unsubscribeUrl,
  };
}
