import { doneEvent, outputEvent, type RunEvent } from '@agent-rental/contract';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { ConnectionError } from './errors.js';

/**
 * Reads a run's server-sent events. Ends after `done`; leaving the loop early closes the connection.
 *
 * @throws ConnectionError when the stream ends before `done`.
 */
export async function* readRunEvents(response: Response): AsyncGenerator<RunEvent, void, undefined> {
  if (!response.body) throw new ConnectionError('The stream has no body.');
  const events = response.body
    .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .pipeThrough(new EventSourceParserStream());
  const reader = events.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new ConnectionError('The stream ended before the run was done.');
      if (value.event === 'output') {
        yield { event: 'output', data: outputEvent.parse(JSON.parse(value.data)) };
      } else if (value.event === 'done') {
        yield { event: 'done', data: doneEvent.parse(JSON.parse(value.data)) };
        return;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
