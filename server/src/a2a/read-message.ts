import { createHash } from 'node:crypto';
import type { ExecuteBody, JsonObject } from '@agent-rental/contract';
import type { RentalClient } from '@agent-rental/sdk';
import { Message, type Part } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';

/** The task of a message that has data or a file alone. */
const TASK_WITHOUT_TEXT = 'Use the input.';
/** Addresses that a run reads by itself. */
const READ_BY_RUNS = /^(ipfs|ar|agent-rental):\/\//;

/** The order in a message to an agent. */
export type AskedRun = Pick<ExecuteBody, 'task' | 'input' | 'input_uri'>;

/** A refusal of a message, which says what to send. */
export function malformed(message: string): RequestMalformedError {
  return new RequestMalformedError({ message });
}

/** The same message to the same agent is one run. Some clients give one id to several messages: the parts count, too. */
export function keyOfMessage(agentId: string, message: Message): string {
  const { messageId, parts } = Message.toJSON(message) as { messageId: string; parts: unknown };
  const text = JSON.stringify([agentId, messageId, parts]);
  return `a2a-${createHash('sha256').update(text).digest('base64url')}`;
}

/** Whether a part of a message is a file. */
export function hasFile({ parts }: Message): boolean {
  return parts.some(({ content }) => content?.$case === 'raw' || content?.$case === 'url');
}

/** The text of a message. */
export function textOf({ parts }: Message): string {
  return parts.flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : [])).join('\n');
}

/** The one data part of a message. @throws RequestMalformedError for several, and for one that is no object. */
export function dataOf({ parts }: Message): JsonObject | undefined {
  const found = parts.flatMap(({ content }) => (content?.$case === 'data' ? [content.value as unknown] : []));
  const [data] = found;
  if (found.length > 1)
    throw malformed('The message has several data parts. Send one, with the whole input.');
  if (data === undefined) return undefined;
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw malformed('The data part is no object. Send an object that fits the input schema of the agent.');
  return data as JsonObject;
}

/**
 * Reads a message: text is the task, data the input. A file is the input, too: text as it is, other content is uploaded
 * first.
 *
 * @throws RequestMalformedError for parts that a run cannot take. ApiError of the upload.
 */
export async function readMessage(
  client: Pick<RentalClient, 'uploadFile'>,
  message: Message,
): Promise<AskedRun> {
  const data = dataOf(message);
  const files = message.parts.filter(({ content }) => content?.$case === 'raw' || content?.$case === 'url');
  const [file] = files;
  if (message.parts.some(({ content }) => content === undefined))
    throw malformed('A part of the message has no content. Each part is text, data, raw or url.');
  if (files.length + (data ? 1 : 0) > 1)
    throw malformed(
      'A run takes one input. Send one data part or one file, and put several files into an archive.',
    );
  const task = textOf(message);
  if (task === '' && !data && !file) throw malformed('The message is empty. Say the task in a text part.');
  return {
    task: task === '' ? TASK_WITHOUT_TEXT : task,
    ...(data && { input: data }),
    ...(file && (await inputOfFile(client, file))),
  };
}

async function inputOfFile(
  client: Pick<RentalClient, 'uploadFile'>,
  { content, mediaType }: Part,
): Promise<Pick<AskedRun, 'input' | 'input_uri'>> {
  if (content?.$case === 'url') {
    if (READ_BY_RUNS.test(content.value)) return { input_uri: content.value };
    throw malformed(
      'The file is at an address that runs do not read. Send its bytes, or an ipfs: or ar: address.',
    );
  }
  if (content?.$case !== 'raw') return {};
  const bytes = new Uint8Array(content.value);
  // Without an upload, so that the same message is the same call.
  if (mediaType.startsWith('text/')) return { input: Buffer.from(bytes).toString('utf8') };
  const { input_uri } = await client.uploadFile(bytes, {
    mediaType: mediaType || 'application/octet-stream',
  });
  return { input_uri };
}
