import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Dispatcher } from './dispatcher.js';

/** A batch of the greatest length with transactions of the greatest size fits. */
const MAX_BODY_BYTES = 1024 * 1024;
const MAX_CONNECTIONS = 1_024;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
/** The connection of a client that does not read its answer for this time is closed. */
const IDLE_SOCKET_TIMEOUT_MS = 60_000;
/** Clients reuse connections; the default of 5 s often closes one just as it is used again. */
const KEEP_ALIVE_TIMEOUT_MS = 30_000;
const WRONG_METHOD = 'Used HTTP Method is not allowed. POST or OPTIONS is required\n';

/** Browser wallets call from any origin, also from public pages into this machine. */
const CORS_HEADERS = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'POST, GET, OPTIONS',
  'access-control-allow-headers': '*',
  'access-control-allow-private-network': 'true',
  'access-control-max-age': '86400',
};

export function limitServer(server: Server): void {
  server.maxConnections = MAX_CONNECTIONS;
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  server.timeout = IDLE_SOCKET_TIMEOUT_MS;
}

/** Serves JSON-RPC on POST, and `GET /health`. */
export function rpcRequestListener(dispatcher: Dispatcher): RequestListener {
  return (request, response) => {
    request.on('error', () => response.destroy());
    switch (request.method) {
      case 'POST':
        void answerCall(request, response, dispatcher);
        break;
      case 'OPTIONS':
        response.writeHead(204, CORS_HEADERS).end();
        break;
      default:
        if (request.method === 'GET' && request.url === '/health') respond(response, 200, 'ok', 'text/plain');
        else respond(response, 405, WRONG_METHOD, 'text/plain');
    }
  };
}

async function answerCall(
  request: IncomingMessage,
  response: ServerResponse,
  dispatcher: Dispatcher,
): Promise<void> {
  try {
    const body = await readBody(request);
    if (body === null) {
      response.setHeader('connection', 'close');
      respond(response, 413, `Request body is larger than ${MAX_BODY_BYTES} bytes\n`, 'text/plain');
      return;
    }
    const answer = await dispatcher.answer(body);
    respond(response, 200, answer ?? '', 'application/json');
  } catch {
    // The client went away while it was sending.
    response.destroy();
  }
}

function respond(response: ServerResponse, status: number, body: string, contentType: string): void {
  const bytes = Buffer.from(body, 'utf8');
  response
    .writeHead(status, { ...CORS_HEADERS, 'content-type': contentType, 'content-length': bytes.length })
    .end(bytes);
}

/** The body as text; null as soon as it is too long. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
