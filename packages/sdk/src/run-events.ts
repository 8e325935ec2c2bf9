import { doneEvent, outputEvent, type RunEvent } from '@agent-rental/contract';
import type { EventSourceMessage } from 'eventsource-parser';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { ConnectionError } from './errors.js';

/**
 * Reads a run's server-sent events. Ends after `done`. Leaving the loop early closes the connection.
 *
 * @throws ConnectionError when the stream ends before `done` or cannot be read, and the signal's reason when aborted.
 */
export async function* readRunEvents(
  response: Response,
  signal?: AbortSignal,
): AsyncGenerator<RunEvent, void, undefined> {
  if (!response.body) throw new ConnectionError('The stream has no body.');
  const events = response.body
    .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream());
  const reader = events.getReader();
  try {
    for (;;) {
      const event = await nextEvent(reader, signal);
      if (event === undefined) continue;
      yield event;
      if (event.event === 'done') return;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** The next event; nothing for an unknown event of a later API version. */
async function nextEvent(
  reader: ReadableStreamDefaultReader<EventSourceMessage>,
  signal: AbortSignal | undefined,
): Promise<RunEvent | undefined> {
  try {
    const { done, value } = await reader.read();
    if (!done && value.event === 'output') {
      return { event: 'output', data: outputEvent.parse(JSON.parse(value.data)) };
    }
    if (!done && value.event === 'done') {
      return { event: 'done', data: doneEvent.parse(JSON.parse(value.data)) };
    }
    if (!done) return undefined;
  } catch (error) {
    signal?.throwIfAborted();
    throw new ConnectionError('The stream broke off before the run was done.', { cause: error });
  }
  throw new ConnectionError('The stream ended before the run was done.');
}
