import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Principal } from './principal.js';

const HEADER = 'x-agent-rental-internal';

/** A request from outside that internal ones serve. */
export interface OuterRequest {
  readonly id: string;
  readonly response?: ServerResponse;
}

/** Requests that the server makes to itself on behalf of a caller whom it has verified already. */
export interface InternalRequests {
  /** The principal that an incoming request carries, when it is one of ours. */
  principalOf(headers: IncomingHttpHeaders): Principal | undefined;
  /** The id of the request that an incoming one was made for, when it is one of ours. */
  requestIdOf(headers: IncomingHttpHeaders): string | undefined;
  /** The response to the caller from outside that an incoming request serves, when it is one of ours. */
  outerResponseOf(headers: IncomingHttpHeaders): ServerResponse | undefined;
  /** Closes an incoming request when whoever made it aborts, when it is one of ours. To be called as it comes in. */
  closeOnAbort(headers: IncomingHttpHeaders, response: ServerResponse): void;
  /**
   * A `fetch` that reaches the app in this process as `principal`. The response streams; cancelling its body
   * or aborting the signal closes the inner request, as a client that goes away does. What it logs has the id of
   * `outer`; what it answers has reached the caller once the response of `outer` has.
   */
  fetchAs(app: FastifyInstance, principal: Principal, outer?: OuterRequest): typeof fetch;
}

/** Makes the channel. Its tokens are random, live as long as one request, and never leave the process. */
export function createInternalRequests(): InternalRequests {
  const callers = new Map<
    string,
    { principal: Principal; outer: OuterRequest | undefined; signal: AbortSignal }
  >();
  const callerOf = (headers: IncomingHttpHeaders) => {
    const token = headers[HEADER];
    return typeof token === 'string' ? callers.get(token) : undefined;
  };
  return {
    principalOf: (headers) => callerOf(headers)?.principal,
    requestIdOf: (headers) => callerOf(headers)?.outer?.id,
    outerResponseOf: (headers) => callerOf(headers)?.outer?.response,
    closeOnAbort: (headers, response) => {
      const signal = callerOf(headers)?.signal;
      if (!signal) return;
      const close = () => response.destroy();
      if (signal.aborted) {
        close();
        return;
      }
      signal.addEventListener('abort', close, { once: true });
      response.once('close', () => signal.removeEventListener('abort', close));
    },
    fetchAs: (app, principal, outer) => async (input, init) => {
      const request = new Request(input, init);
      const url = new URL(request.url);
      const token = randomBytes(32).toString('base64url');
      const body = request.body ? Buffer.from(await request.arrayBuffer()) : undefined;
      request.signal.throwIfAborted();
      callers.set(token, { principal, outer, signal: request.signal });
      const response = await app
        .inject({
          method: request.method as 'GET',
          url: url.pathname + url.search,
          headers: { ...Object.fromEntries(request.headers), [HEADER]: token },
          ...(body ? { payload: body } : {}),
          // Its own `signal` does nothing between the end of the request's body and the answer's headers.
          payloadAsStream: true,
        })
        .finally(() => callers.delete(token));
      const stream = response.stream();
      stream.once('close', () => response.raw.res.destroy());
      const headers = Object.entries(response.headers).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[name, String(value)]],
      );
      return new Response(toWebStream(stream, request.signal), { status: response.statusCode, headers });
    },
  };
}

/**
 * A stream as a web stream. (`Readable.toWeb` throws out of an event, uncaught, when it is cancelled with data waiting.)
 * As with a real fetch, an abort also breaks off a body that is being read.
 */
function toWebStream(stream: Readable, signal: AbortSignal): ReadableStream<Uint8Array> {
  const chunks = stream.iterator() as AsyncIterator<Buffer>;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const abort = () => {
          controller.error(signal.reason);
          stream.destroy();
        };
        if (signal.aborted) abort();
        signal.addEventListener('abort', abort, { once: true });
        stream.once('close', () => signal.removeEventListener('abort', abort));
      },
      async pull(controller) {
        const { value, done } = await chunks.next();
        if (signal.aborted) return;
        if (done) controller.close();
        else controller.enqueue(new Uint8Array(value));
      },
      cancel() {
        stream.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
