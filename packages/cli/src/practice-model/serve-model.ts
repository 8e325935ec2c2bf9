import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';
import { practiceAnswer } from './practice-answer.js';

/** The name of the practice model. */
export const PRACTICE_MODEL = 'practice';

/** The running practice model. */
export interface ServedModel {
  /** Base URL of its OpenAI-compatible API, ending in `/v1`. */
  readonly baseUrl: string;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 4 * 1024 * 1024;

const part = z.looseObject({ text: z.string().optional() });
const chatRequest = z.looseObject({
  model: z.string(),
  messages: z
    .array(
      z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(part), z.null()]).optional() }),
    )
    .min(1),
  stream: z.boolean().optional(),
});
type ChatRequest = z.infer<typeof chatRequest>;

/**
 * Serves a model without a key and a network, to try an agent before it has a real model. It repeats its input and says so.
 * A text answer has the first line of the system prompt, so that an edit of the prompt is visible.
 *
 * @throws Error if the port is taken.
 */
export async function servePracticeModel(port: number): Promise<ServedModel> {
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const send = (status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const refuse = (status: number, message: string) =>
    send(status, { error: { message, type: 'invalid_request_error', param: null, code: null } });
  if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
    refuse(404, 'The practice model answers POST /v1/chat/completions.');
    return;
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      response.writeHead(413, { connection: 'close' }).end();
      return;
    }
    chunks.push(chunk);
  }
  const parsed = chatRequest.safeParse(parseJson(Buffer.concat(chunks).toString('utf8')));
  if (!parsed.success) {
    refuse(400, `The request is malformed: ${z.prettifyError(parsed.error)}`);
    return;
  }
  const text = practiceAnswer(messagesOf(parsed.data));
  const common = { id: 'chatcmpl-practice', created: 0, model: PRACTICE_MODEL };
  const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  if (parsed.data.stream !== true) {
    const choice = { index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' };
    send(200, { ...common, object: 'chat.completion', choices: [choice], usage });
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (choices: object[], more: object = {}) =>
    response.write(
      `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', choices, ...more })}\n\n`,
    );
  chunk([{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }]);
  chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]);
  chunk([], { usage });
  response.end('data: [DONE]\n\n');
}

function messagesOf({ messages }: ChatRequest): { role: string; text: string }[] {
  return messages.map(({ role, content }) => ({
    role,
    text: typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join(''),
  }));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
