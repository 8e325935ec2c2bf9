import { STATUS_CODES, type IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors/api-error.js';

/** A connection error as Node's HTTP parser and its timers give it. */
export interface BrokenRequestError extends Error {
  code?: string;
}

/** How long a sender that was refused may go on sending, so that it gets to read why. */
const LINGER_MS = 1_000;

const REASON: Readonly<Record<string, { told: string; status: number }>> = {
  HPE_HEADER_OVERFLOW: { told: 'The headers are too large.', status: 431 },
  ERR_HTTP_REQUEST_TIMEOUT: { told: 'The request took too long to arrive.', status: 408 },
};
const NO_HTTP = { told: 'The request is not valid HTTP.', status: 400 };

/** Operations whose input may be sent as a file. */
const TAKES_FILES: ReadonlySet<string | undefined> = new Set(['execute', 'executeStream']);

/** The refusal of a body beyond the bound of its route. */
export function bodyTooLarge({ routeOptions: { bodyLimit, config } }: FastifyRequest): ApiError {
  const next = TAKES_FILES.has(config.operationId)
    ? 'Send a large input as a file: POST /v1/files gives an input_uri.'
    : undefined;
  return new ApiError('invalid_request', `The body has more than ${bodyLimit} bytes.`, { next, status: 413 });
}

/** @throws ApiError for a compressed body: unpacked it could be of any size. */
export function refuseEncodedBody(headers: IncomingHttpHeaders, reply: FastifyReply): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (encoding === '' || encoding === 'identity') return;
  // RFC 9110, section 15.5.16.
  reply.header('Accept-Encoding', 'identity');
  throw new ApiError('invalid_request', 'The body is compressed.', {
    next: 'Send it without Content-Encoding.',
    status: 415,
  });
}

const answered = new WeakSet<Socket>();

/**
 * Answers requests that no router sees: bytes that are not HTTP, headers beyond every bound, endless bodies. The answer
 * has the usual form, and the connection ends with it.
 *
 * @param headers read only when the connection can still be answered
 */
export async function refuseBrokenRequest(
  error: BrokenRequestError,
  socket: Socket,
  requestId: string,
  headers: () => Promise<Record<string, string>>,
): Promise<void> {
  if (answered.has(socket)) return;
  answered.add(socket);
  if (error.code === 'ECONNRESET' || !isWaiting(socket)) {
    socket.destroy();
    return;
  }
  const { told, status } = REASON[error.code ?? ''] ?? NO_HTTP;
  const refusal = new ApiError('invalid_request', told, { status });
  const body = JSON.stringify({ error: refusal.body(requestId) });
  const given = await headersOrNone(headers);
  const head = Object.entries({
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...given,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('')}\r\n${body}`);
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}

/** Leaves out missing headers: the refusal matters more. */
async function headersOrNone(
  headers: () => Promise<Record<string, string>>,
): Promise<Record<string, string>> {
  try {
    return await headers();
  } catch {
    return {};
  }
}

/** Whether an answer can still be written: none has started on this connection. */
function isWaiting(socket: Socket): boolean {
  const { _httpMessage: response } = socket as Socket & { _httpMessage?: { headersSent: boolean } | null };
  return socket.writable && response?.headersSent !== true;
}
