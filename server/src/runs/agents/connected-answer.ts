import { isShallowEnough } from '@agent-rental/agent-runner';
import { outputEvent, type Json } from '@agent-rental/contract';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import * as z from 'zod';
import { readText, ResponseTooLargeError } from '../../platform/outbound-http.js';

/** Maximum size of an answer of a creator's endpoint in bytes, as JSON or as a stream. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** Ends a stream. Without `output` the text of all deltas is the output. */
const doneData = z.object({
  status: z.enum(['completed', 'failed']).default('completed'),
  output: z.unknown().optional(),
});

/** The answer of a creator's endpoint. `malformed`: it does not have the form of an answer. `failed`: it reports a failure. */
export type ConnectedAnswer = { output: Json } | 'malformed' | 'failed';

/**
 * Reads an answer: a JSON document, or an event stream of `output {delta}` and one `done {output?, status?}`.
 *
 * @param onText gets the deltas as they come.
 * @throws the error that broke the connection; ResponseTooLargeError.
 */
export async function readAnswer(
  response: Response,
  onText: (delta: string) => void,
): Promise<ConnectedAnswer> {
  const type = response.headers.get('content-type') ?? '';
  if (/^text\/event-stream\s*(;|$)/i.test(type)) return readStream(response, onText);
  try {
    return shallow(JSON.parse(await readText(response, MAX_ANSWER_BYTES)) as Json);
  } catch (error) {
    if (error instanceof SyntaxError) return 'malformed';
    throw error;
  }
}

/** Bounds nesting as for sandboxed agents: a deeper value overflows the stack when it is serialized again. */
function shallow(output: Json): ConnectedAnswer {
  return isShallowEnough(output) ? { output } : 'malformed';
}

async function readStream(response: Response, onText: (delta: string) => void): Promise<ConnectedAnswer> {
  const read: { text: string; answer?: ConnectedAnswer } = { text: '' };
  const take = ({ event, data }: EventSourceMessage): void => {
    if (event === 'output') {
      const { delta } = outputEvent.parse(JSON.parse(data));
      read.text += delta;
      onText(delta);
    } else if (event === 'done') {
      read.answer = conclude(data, read.text);
    }
  };
  const parser = createParser({
    onEvent(event) {
      if (read.answer !== undefined) return;
      try {
        take(event);
      } catch (error) {
        if (!(error instanceof SyntaxError) && !(error instanceof z.ZodError)) throw error;
        read.answer = 'malformed';
      }
    },
  });
  const decoder = new TextDecoder();
  const lines = toLineFeeds();
  let size = 0;
  // Leaving the loop closes the connection.
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new ResponseTooLargeError('the stream is too large');
    parser.feed(lines(decoder.decode(chunk, { stream: true })));
    if (read.answer !== undefined) return read.answer;
  }
  throw new Error('The stream ended before it was done.');
}

/** Makes LF of every line end. The parser waits for the rest of a CRLF after a last CR, and an event would come late or never. */
function toLineFeeds(): (piece: string) => string {
  let endedByCr = false;
  return (piece) => {
    if (piece === '') return piece;
    const text = endedByCr && piece.startsWith('\n') ? piece.slice(1) : piece;
    endedByCr = piece.endsWith('\r');
    return text.replaceAll(/\r\n?/g, '\n');
  };
}

/** Streamed text cannot be taken back, so an output that follows deltas must begin with them. */
function conclude(data: string, text: string): ConnectedAnswer {
  const { status, output } = doneData.parse(JSON.parse(data));
  if (status === 'failed') return 'failed';
  if (output === undefined) return { output: text };
  if (typeof output === 'string' && !output.startsWith(text)) return 'malformed';
  return shallow(output as Json);
}
