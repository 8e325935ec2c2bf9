import { setImmediate } from 'node:timers/promises';
import { JSON_BOUNDS, outputEvent, readJson, type Json, type JsonFault } from '@agent-rental/contract';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import * as z from 'zod';
import { JSON_ENTRIES, JsonTextError, readStrangersJson } from '../../../platform/json/json-gate.js';
import { decoderOf, readText, ResponseTooLargeError } from '../../../platform/outbound-http.js';

/** Most bytes of a stream. Each delta has some bytes around its text. */
const MAX_STREAM_BYTES = 8 * 1024 * 1024;
/** Bytes of a stream that are read in one iteration of the event loop. */
const PIECE_BYTES = 16 * 1024;

/** Ends a stream. Without `output` the text of all deltas is the output. */
const doneData = z.object({
  status: z.enum(['completed', 'failed']).default('completed'),
  output: z.unknown().optional(),
});

/** The rule that an answer breaks, as a class of failures. */
type BrokenRule =
  | 'answer_not_json'
  | 'answer_too_large'
  | 'answer_too_deep'
  | 'answer_number'
  | 'stream_event'
  | 'stream_output';

const RULES: Readonly<Record<JsonFault, BrokenRule>> = {
  syntax: 'answer_not_json',
  bytes: 'answer_too_large',
  values: 'answer_too_large',
  depth: 'answer_too_deep',
  number: 'answer_number',
};

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
  if (isEventStream(response)) return readStream(response, onText);
  const type = response.headers.get('content-type') ?? '';
  const text = await readText(response, JSON_BOUNDS.bytes);
  const answer = await readDocument(text);
  const isPlainText = /^text\/plain\s*(;|$)/i.test(type) && [wanted].flat().includes('string');
  // A text in JSON stays one, so that an endpoint with a careless type keeps its meaning.
  const isJson = typeof answer === 'object' && (wanted !== 'string' || typeof answer.output === 'string');
  return isPlainText && !isJson ? textOutput(text) : answer;
}

function readDocument(text: string): Promise<ConnectedAnswer> {
  return withRules(async () => ({ output: await readStrangersJson('endpoint_answer', text) }));
}

/** The answer that `read` gives, or the rule that the JSON breaks which it reads. */
export async function withRules<T>(read: () => Promise<T>): Promise<T | BrokenRule> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof JsonTextError) return RULES[error.fault];
    if (error instanceof z.ZodError) return 'stream_event';
    throw error;
  }
}

/** A text as the output. As JSON it can have six times its bytes. */
function textOutput(text: string): ConnectedAnswer {
  return Buffer.byteLength(JSON.stringify(text)) > JSON_BOUNDS.bytes ? 'answer_too_large' : { output: text };
}

/** Whether a response is a stream of server-sent events. */
export function isEventStream(response: Response): boolean {
  return /^text\/event-stream\s*(;|$)/i.test(response.headers.get('content-type') ?? '');
}

function readStream(response: Response, onText: (delta: string) => void): Promise<ConnectedAnswer> {
  let text = '';
  return readEvents(response, ({ event, data }) => {
    if (event === 'done') return conclude(data, text);
    if (event !== 'output') return undefined;
    const { delta } = outputEvent.parse(readEvent(data));
    text += delta;
    if (text.length > JSON_BOUNDS.bytes) throw new ResponseTooLargeError('the output is too large');
    onText(delta);
    return undefined;
  });
}

/**
 * Reads the events of a stream, up to the one for which `take` gives the answer. One that breaks a rule is the end, too.
 *
 * @throws the error that broke the connection, and where the stream ends without an answer; ResponseTooLargeError.
 */
export async function readEvents(
  response: Response,
  take: (event: EventSourceMessage, readData: (data: string) => unknown) => ConnectedAnswer | undefined,
): Promise<ConnectedAnswer> {
  const read: { answer?: ConnectedAnswer | undefined } = {};
  const parser = createParser({
    onEvent(event) {
      if (read.answer !== undefined) return;
      try {
        read.answer = take(event, readEvent);
      } catch (error) {
        if (error instanceof JsonTextError && error.fault !== 'syntax') read.answer = RULES[error.fault];
        else if (error instanceof JsonTextError || error instanceof z.ZodError) read.answer = 'stream_event';
        else throw error;
      }
    },
  });
  const decoder = decoderOf(response);
  const lines = toLineFeeds();
  let size = 0;
  // Leaving the loop closes the connection.
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_STREAM_BYTES) throw new ResponseTooLargeError('the stream is too large');
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      if (at > 0) await setImmediate();
      parser.feed(lines(decoder.decode(chunk.subarray(at, at + PIECE_BYTES), { stream: true })));
      if (read.answer !== undefined) return read.answer;
    }
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
  const { status, output } = doneData.parse(readEvent(data));
  if (status === 'failed') return 'task_failed';
  if (output === undefined) return textOutput(text);
  if (typeof output === 'string' && !output.startsWith(text)) return 'stream_output';
  return { output: output as Json };
}

function readEvent(data: string): unknown {
  return readJson(data, JSON_ENTRIES.endpoint_event);
}
