import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { RETRY_MS } from './resumption.js';

/** Refusals that take longer come in the stream. */
const AT_ONCE_MS = 10;
/** Interval of signs of life in a quiet stream, for proxies. */
const KEEP_ALIVE_MS = 15_000;

const encoder = new TextEncoder();

/**
 * The response to a tool call, as a stream that starts early. Its first event has an id, with which a client can ask for the
 * answer after a lost connection. An immediate refusal stays a normal response with its status.
 *
 * @param answer the response of the call's server.
 */
export async function beginEarly(
  answer: Promise<Response>,
  request: JSONRPCRequest,
  eventIds: () => string,
): Promise<Response> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), AT_ONCE_MS);
  });
  const atOnce = await Promise.race([answer, late]);
  clearTimeout(timer);
  const begins = `id: ${eventIds()}\nretry: ${RETRY_MS}\ndata: \n\n`;
  if (atOnce !== undefined && !atOnce.ok) return atOnce;
  return streamOf(events(answer, begins, request, eventIds));
}

async function* events(
  answer: Promise<Response>,
  begins: string,
  request: JSONRPCRequest,
  eventIds: () => string,
): AsyncGenerator<Uint8Array> {
  yield encoder.encode(begins);
  const response = await answer;
  if (isStream(response) && response.body !== null) {
    yield* response.body;
    return;
  }
  const text = await response.text();
  // Convert a result that is no protocol answer, for instance of a call with a lost connection.
  const message = text.startsWith('{')
    ? text
    : JSON.stringify({ jsonrpc: '2.0', id: request.id, error: { code: -32_603, message: 'Internal error' } });
  yield encoder.encode(`id: ${eventIds()}\nevent: message\ndata: ${message}\n\n`);
}

function isStream(response: Response): boolean {
  return response.headers.get('content-type')?.startsWith('text/event-stream') === true;
}

function streamOf(events: AsyncGenerator<Uint8Array>): Response {
  let keepAlive: NodeJS.Timeout | undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        keepAlive = setInterval(
          () => controller.enqueue(encoder.encode(': still running\n\n')),
          KEEP_ALIVE_MS,
        );
      },
      async pull(controller) {
        try {
          const { done, value } = await events.next();
          if (!done) return controller.enqueue(value);
          clearInterval(keepAlive);
          controller.close();
        } catch (error) {
          clearInterval(keepAlive);
          controller.error(error);
        }
      },
      async cancel() {
        clearInterval(keepAlive);
        await events.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  const headers = {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
  };
  return new Response(body, { headers });
}
