import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { answerTo, OFFLINE_MODEL_ID } from './answer.js';
import { completionBody, completionChunks } from './completion.js';
import { parseChatRequest, RequestError } from './request.js';

/** The offline model, listening. */
export interface OfflineModel {
  /** Base URL of its OpenAI-compatible API, ending in `/v1`. */
  readonly baseUrl: string;
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 8 * 1024 * 1024;

/**
 * Serves the offline model on the loopback address, by `POST /v1/chat/completions` and `GET /v1/models` of the OpenAI API.
 * The marketplace reaches it like any other model.
 *
 * @param options `port` 0 takes any free one; `apiKey` is the bearer token that callers must send.
 */
export async function serveOfflineModel(options: { port: number; apiKey: string }): Promise<OfflineModel> {
  const server = createServer((request, response) => {
    handle(request, response, options.apiKey).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else if (error instanceof RequestError) sendJson(response, error.status, error.body);
      else sendJson(response, 500, { error: { message: 'The offline model failed.', type: 'server_error' } });
    });
  });
  server.listen(options.port, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(request: IncomingMessage, response: ServerResponse, apiKey: string): Promise<void> {
  requireKey(request.headers.authorization, apiKey);
  const path = (request.url ?? '').split('?', 1)[0];
  const route = `${request.method} ${path}`;
  if (route === 'GET /v1/models') {
    const model = { id: OFFLINE_MODEL_ID, object: 'model', created: 0, owned_by: 'agent-rental-examples' };
    sendJson(response, 200, { object: 'list', data: [model] });
    return;
  }
  if (route !== 'POST /v1/chat/completions') {
    throw new RequestError(404, 'unknown_url', `There is no ${route.slice(0, 200)} here.`);
  }
  const parsed = parseChatRequest(await readBody(request), OFFLINE_MODEL_ID);
  const answer = answerTo(parsed);
  if (!parsed.stream) {
    sendJson(response, 200, completionBody(parsed, answer));
    return;
  }
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
  await pipeline(Readable.from(serverSentEvents(completionChunks(parsed, answer))), response);
}

function* serverSentEvents(chunks: Iterable<string>): Generator<string, void, undefined> {
  for (const data of chunks) yield `data: ${data}\n\n`;
}

function requireKey(authorization: string | undefined, apiKey: string): void {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  if (!timingSafeEqual(digest(authorization ?? ''), digest(`Bearer ${apiKey}`))) {
    throw new RequestError(401, 'invalid_api_key', 'The API key is missing or wrong.');
  }
}

/** Reads a body with `data` events: leaving a `for await` early would close the socket before the answer. */
function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) {
        chunks.push(chunk);
        return;
      }
      request.pause();
      reject(new RequestError(413, 'body_too_large', `The body is larger than ${MAX_BODY_BYTES} bytes.`));
    });
    request.once('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    request.once('error', reject);
  });
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  // The rest of a body that is too large is not read.
  if (status === 413) headers['connection'] = 'close';
  response.writeHead(status, headers).end(JSON.stringify(body));
}
