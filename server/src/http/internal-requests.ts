import { randomBytes } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Principal } from '../access/principal.js';

const HEADER = 'x-agent-rental-internal';
const LARGE_BYTES = 32 * 1024;
const EVENT_STREAM = 'text/event-stream';
/** Statuses with which a `Response` may have no body (Fetch, "null body status"). */
const HAS_NO_BODY = new Set([101, 204, 205, 304]);
const NEVER = new AbortController().signal;

/** The request for which the server makes requests to itself. */
interface OuterRequest {
  /** For lines of the log. */
  id: string;
  /** Checks its bearer again. */
  checkAgain: () => Promise<Principal>;
}

/** Requests that the server makes to itself on behalf of a caller whom it has verified already. */
export interface InternalRequests {
  /** The principal that an incoming request carries, when it is one of ours. */
  principalOf(headers: IncomingHttpHeaders): Principal | undefined;
  /** Checks that principal again, for a response that takes long; present where `principalOf` gives one. */
  checkOf(headers: IncomingHttpHeaders): (() => Promise<Principal>) | undefined;
  /** The id of the request that an incoming one was made for, when it is one of ours. */
  requestIdOf(headers: IncomingHttpHeaders): string | undefined;
  /** Closes an incoming internal request when its caller aborts. Call it when the request arrives. */
  closeOnAbort(headers: IncomingHttpHeaders, response: ServerResponse): void;
  /**
   * A `fetch` that reaches the app in this process as `principal`. A response streams if an event stream is accepted. A
   * cancelled body or an aborted signal closes the inner request, like a client that goes away.
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
    checkOf: (headers) => {
      const caller = callerOf(headers);
      return caller && (caller.outer?.checkAgain ?? (async () => caller.principal));
    },
    requestIdOf: (headers) => callerOf(headers)?.outer?.id,
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
      const { method, url, headers, body, signal } = await partsOf(input, init);
      signal.throwIfAborted();
      const token = randomBytes(32).toString('base64url');
      callers.set(token, { principal, outer, signal });
      const isStream = headers['accept'] === EVENT_STREAM;
      const request = {
        method: method as 'GET',
        url: url.pathname + url.search,
        headers: { ...headers, [HEADER]: token },
        ...(body === undefined ? {} : { payload: body }),
      };
      try {
        // Their own `signal` does nothing between the end of the request's body and the answer's headers.
        const response = await (isStream
          ? app.inject({ ...request, payloadAsStream: true })
          : app.inject(request));
        const answer = { status: response.statusCode, headers: asHeaders(response.headers) };
        if (isStream) {
          const stream = response.stream();
          stream.once('close', () => response.raw.res.destroy());
          return new Response(toWebStream(stream, signal), answer);
        }
        // Where all of it is there, a stream on the way costs more than the rest.
        response.raw.res.destroy();
        // A large answer was serialized in this iteration of the event loop, and is parsed in the next one.
        if (response.rawPayload.length > LARGE_BYTES) await setImmediate();
        return new Response(
          HAS_NO_BODY.has(answer.status) ? null : new Uint8Array(response.rawPayload),
          answer,
        );
      } catch (error) {
        signal.throwIfAborted();
        throw error;
      } finally {
        callers.delete(token);
      }
    },
  };
}

/** The parts of a request. */
interface RequestParts {
  method: string;
  url: URL;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Buffer | string | undefined;
  signal: AbortSignal;
}

/** Requests of the sdk are mostly texts: to make a `Request` takes longer than to serve some. */
async function partsOf(...[input, init = {}]: Parameters<typeof fetch>): Promise<RequestParts> {
  const { method = 'GET', headers = {}, body, signal } = init;
  if (typeof input !== 'string' || (body && typeof body !== 'string')) {
    const request = new Request(input, init);
    return {
      method: request.method,
      url: new URL(request.url),
      headers: Object.fromEntries(request.headers),
      body: request.body ? Buffer.from(await request.arrayBuffer()) : undefined,
      signal: request.signal,
    };
  }
  return {
    method,
    url: new URL(input),
    headers: Object.fromEntries(new Headers(headers)),
    body: body ?? undefined,
    signal: signal ?? NEVER,
  };
}

function asHeaders(headers: OutgoingHttpHeaders): [string, string][] {
  return Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
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
