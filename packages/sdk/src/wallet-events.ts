import {
  createDeadline,
  operations,
  walletEvent,
  type EventName,
  type WalletEvent,
} from '@agent-rental/contract';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { ConnectionError, isApiError } from './errors.js';
import { backoffMs, pause, sendRequest, type HttpOptions } from './http.js';

/** The service sends something each 15 seconds. A connection that is silent for so long is dead. */
const SILENT_MS = 60_000;

/** An event of the wallet. `cursor` is the place after it: pass it as `after` to go on from there. */
export type HeardEvent<N extends EventName = EventName> = {
  [Name in N]: WalletEvent<Name> & { cursor: string };
}[N];

/** Which events are followed. */
export interface EventsOptions<N extends EventName = EventName> {
  /** The cursor of the last event that was handled. Absent: only new events. */
  after?: string | undefined;
  /** Absent: all. */
  types?: readonly N[] | undefined;
  /** Ends the loop. */
  signal?: AbortSignal | undefined;
}

/**
 * Follows the events of the wallet. Connects again after a lost connection, and then goes on after the last event.
 *
 * @throws ApiError where the service refuses, and ConnectionError where it never answered.
 */
export async function* followEvents<N extends EventName>(
  http: HttpOptions,
  { after, types, signal }: EventsOptions<N>,
): AsyncGenerator<HeardEvent<N>, void, undefined> {
  let cursor = after;
  let isKnown = false;
  for (let failures = 0; ; failures += 1) {
    const silence = new AbortController();
    const ends = createDeadline(undefined, silence.signal, signal);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const listen = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(new ConnectionError('The stream is silent.')), SILENT_MS);
    };
    try {
      listen();
      cursor ??= await readPresent(http, ends.signal);
      const input = {
        query: { types: types?.join(',') },
        headers: { accept: 'text/event-stream', 'last-event-id': cursor },
        signal: ends.signal,
      };
      const response = await sendRequest(http, operations.listEvents, input, (started) => started);
      isKnown = true;
      for await (const event of readEvents<N>(response, listen)) {
        // The loop's body may take its time.
        clearTimeout(timer);
        failures = 0;
        cursor = event.cursor;
        yield event;
        if (signal?.aborted) return;
        listen();
      }
    } catch (error) {
      if (signal?.aborted) return;
      const isRefused = isApiError(error) && error.status < 500 && error.status !== 429;
      if (isRefused || !isKnown) throw error;
    } finally {
      clearTimeout(timer);
      ends.clear();
    }
    try {
      await pause(backoffMs(failures), signal);
    } catch {
      return;
    }
  }
}

/** The cursor after the newest event. */
async function readPresent(http: HttpOptions, signal: AbortSignal): Promise<string> {
  const input = { query: { order: 'newest', limit: 1 }, signal };
  return sendRequest(http, operations.listEvents, input, async (response) => {
    const { cursor = '0' } = operations.listEvents.response.parse(await response.json());
    return cursor;
  });
}

/** The events of one connection. Events of a later API version, which have no name here, are left out. */
async function* readEvents<N extends EventName>(
  response: Response,
  onComment: () => void,
): AsyncGenerator<HeardEvent<N>, void, undefined> {
  if (!response.body) throw new ConnectionError('The stream has no body.');
  const reader = response.body
    .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream({ onComment }))
    .getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const event = walletEvent.safeParse(JSON.parse(value.data));
      if (event.success && value.id !== undefined) {
        yield { ...event.data, cursor: value.id } as unknown as HeardEvent<N>;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
