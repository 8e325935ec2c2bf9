import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A connection that closes this soon after an answer may have been cut before its client read the answer. */
const CUT_WITHIN_MS = 1_000;

/** The last answer of a connection. */
interface LastAnswer {
  readonly finishedAt: number;
  /** Of the connection, when the answer was complete. */
  readonly bytesRead: number;
  readonly onCut: () => void;
}

const lastAnswers = new WeakMap<Socket, LastAnswer>();

/**
 * Calls `onCut` if a client may not have read an answer although all of it was handed to its connection: it closes the
 * connection within a second, without a word that it would (`Connection: close`) and without another request on it. To be
 * called before the answer is sent.
 */
export function watchForCut(response: ServerResponse, onCut: () => void): void {
  const { req, socket } = response;
  // Clients of HTTP/1.0 close, and those that say so.
  if (socket === null || req.httpVersion !== '1.1' || /\bclose\b/i.test(req.headers.connection ?? '')) return;
  response.once('finish', () => {
    // The server asked the client to close it.
    if (response.getHeader('connection') === 'close') return;
    const isWatched = lastAnswers.has(socket);
    lastAnswers.set(socket, { finishedAt: performance.now(), bytesRead: socket.bytesRead, onCut });
    if (!isWatched) socket.once('close', () => concludeFor(socket));
  });
}

function concludeFor(socket: Socket): void {
  const last = lastAnswers.get(socket);
  if (last === undefined || performance.now() - last.finishedAt > CUT_WITHIN_MS) return;
  // It has sent another request, so it had read the answer.
  if (socket.bytesRead > last.bytesRead) return;
  last.onCut();
}
