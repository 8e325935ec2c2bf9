import type { Socket } from 'node:net';
import { ApiError } from '../errors/api-error.js';

/** A connection error as Node's HTTP parser and its timers give it. */
export interface BrokenRequestError extends Error {
  code?: string;
}

/** How long a sender that was refused may go on sending, so that it gets to read why. */
const LINGER_MS = 1_000;

const REASON: Record<string, string> = {
  HPE_HEADER_OVERFLOW: 'The headers are too large.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request took too long to arrive.',
};

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
  const refusal = new ApiError(
    'invalid_request',
    REASON[error.code ?? ''] ?? 'The request is not valid HTTP.',
  );
  const body = JSON.stringify({ error: refusal.body(requestId) });
  const given = await headersOrNone(headers);
  const head = Object.entries({
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
    ...given,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${refusal.status} Bad Request\r\n${head.join('')}\r\n${body}`);
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
