import { isShallowEnough } from '@agent-rental/agent-runner';
import { outputEvent, type Json } from '@agent-rental/contract';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import * as z from 'zod';
import { decoderOf, readText, ResponseTooLargeError } from '../../platform/outbound-http.js';

/** Maximum size of an answer of a creator's endpoint in bytes, as JSON or as a stream. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

/** Ends a stream. Without `output` the text of all deltas is the output. */
const doneData = z.object({
  status: z.enum(['completed', 'failed']).default('completed'),
  output: z.unknown().optional(),
});

/** The rule that an answer breaks, as a class of failures. */
type BrokenRule = 'answer_not_json' | 'answer_too_deep' | 'stream_event' | 'stream_output';

/** The answer of a creator's endpoint, or the rule that it breaks. `task_failed`: it reports a failure. */
export type ConnectedAnswer = { output: Json } | BrokenRule | 'task_failed';

/**
 * Reads an answer: a JSON document, an event stream of `output {delta}` and one `done {output?, status?}`, or plain text for an
 * output schema of the type `string`.
 *
 * @param onText gets the deltas as they come.
 * @throws the error that broke the connection; ResponseTooLargeError.
 */
export async function readAnswer(
  response: Response,
  { type: wanted }: Record<string, unknown>,
  onText: (delta: string) => void,
): Promise<ConnectedAnswer> {
  const type = response.headers.get('content-type') ?? '';
  if (/^text\/event-stream\s*(;|$)/i.test(type)) return readStream(response, onText);
  const text = await readText(response, MAX_ANSWER_BYTES);
  const answer = readJson(text);
  const isPlainText = /^text\/plain\s*(;|$)/i.test(type) && [wanted].flat().includes('string');
  // A text in JSON stays one, so that an endpoint with a careless type keeps its meaning.
  const isJson = typeof answer === 'object' && (wanted !== 'string' || typeof answer.output === 'string');
  return isPlainText && !isJson ? { output: text } : answer;
}

function readJson(text: string): ConnectedAnswer {
  try {
    return shallow(JSON.parse(text) as Json);
  } catch (error) {
    if (error instanceof SyntaxError) return 'answer_not_json';
    throw error;
  }
}

/** Bounds nesting as for sandboxed agents: a deeper value overflows the stack when it is serialized again. */
function shallow(output: Json): ConnectedAnswer {
  return isShallowEnough(output) ? { output } : 'answer_too_deep';
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
        read.answer = 'stream_event';
      }
    },
  });
  const decoder = decoderOf(response);
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
  if (status === 'failed') return 'task_failed';
  if (output === undefined) return { output: text };
  if (typeof output === 'string' && !output.startsWith(text)) return 'stream_output';
  return shallow(output as Json);
}
