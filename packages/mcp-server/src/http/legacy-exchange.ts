import { randomUUID } from 'node:crypto';
import {
  isJSONRPCRequest,
  WebStandardStreamableHTTPServerTransport,
  type JSONRPCMessage,
  type JSONRPCResponse,
  type RequestId,
  type Server,
} from '@modelcontextprotocol/server';
import { untilEnd } from './open-answers.js';
import { RETRY_MS } from './resumption.js';
import type { ClientFacts } from '../sessions/sessions.js';

/** Separates an exchange's id from its server's id of a question. */
const SEPARATOR = '/';

/** One request of an era before 2026-07-28, with its server. */
interface ExchangeOptions {
  readonly server: Server;
  readonly request: Request;
  readonly body: unknown;
  /** The client's facts from the start of its session. They decide which questions it can get. */
  readonly client?: ClientFacts | undefined;
  /** Ids for the events of its stream. */
  readonly eventIds?: (() => string) | undefined;
}

/**
 * Serves requests of the eras before 2026-07-28, each with a separate server and transport. The request brings the session's
 * state: the client's abilities, and the place of its answers to questions.
 */
export class LegacyExchanges {
  readonly #open = new Map<string, { deliver: (message: JSONRPCMessage) => void; close: () => void }>();

  /** Serves one request; the answer may be a stream. `onEnd` is called at its end. */
  async serve(options: ExchangeOptions, onEnd: () => void): Promise<Response> {
    const { server, request, body, client, eventIds } = options;
    const id = randomUUID();
    const transport = new WebStandardStreamableHTTPServerTransport({
      ...(eventIds && { eventStore: idsOnly(eventIds), retryInterval: RETRY_MS }),
    });
    const introduction = introduceClient(transport, id, isJSONRPCRequest(body) ? body.id : undefined);
    await server.connect(transport);
    let isOver = false;
    const end = (): void => {
      if (isOver) return;
      isOver = true;
      this.#open.delete(id);
      request.signal.removeEventListener('abort', end);
      transport.close().catch(() => undefined);
      server.close().catch(() => undefined);
      onEnd();
    };
    this.#open.set(id, { deliver: (message) => transport.onmessage?.(message), close: end });
    request.signal.addEventListener('abort', end);
    try {
      if (client) await introduction.introduce(client);
      const response = await transport.handleRequest(acceptingAll(request), { parsedBody: body });
      if (response.body === null || !response.headers.get('content-type')?.startsWith('text/event-stream')) {
        end();
        return response;
      }
      return new Response(untilEnd(response.body, end), response);
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Gives a client's answer to the asking exchange, if it is served here. */
  deliver(message: JSONRPCResponse): void {
    const [exchange = '', question] = String(message.id).split(SEPARATOR);
    this.#open.get(exchange)?.deliver({ ...message, id: Number(question) });
  }

  /** Ends every exchange. */
  closeAll(): void {
    for (const { close } of this.#open.values()) close();
  }
}

/**
 * Repeats the client's handshake from another exchange for a server, and makes the ids of its questions unique among
 * exchanges.
 */
function introduceClient(
  transport: WebStandardStreamableHTTPServerTransport,
  exchangeId: string,
  requestId: RequestId | undefined,
): { introduce(client: ClientFacts): Promise<void> } {
  const handshakeId = `${exchangeId}${SEPARATOR}handshake`;
  const send = transport.send.bind(transport);
  let introduced = (): void => undefined;
  transport.send = async (message, options) => {
    if ('id' in message && message.id === handshakeId) return introduced();
    // There is one request with one stream: all messages of the server belong to it.
    const related = {
      ...(requestId === undefined ? {} : { relatedRequestId: requestId }),
      ...defined(options),
    };
    if (!isJSONRPCRequest(message)) return send(message, related);
    return send({ ...message, id: `${exchangeId}${SEPARATOR}${message.id}` }, related);
  };
  return {
    introduce: (params) =>
      new Promise<void>((resolve) => {
        introduced = resolve;
        transport.onmessage?.({ jsonrpc: '2.0', id: handshakeId, method: 'initialize', params });
      }),
  };
}

/** The same request without its body, which was read. The SDK compares `Accept` by its letters; ours was checked before. */
function acceptingAll({ url, method, headers: given, signal }: Request): Request {
  const headers = new Headers(given);
  headers.set('accept', 'application/json, text/event-stream');
  return new Request(url, { method, headers, signal });
}

/** A copy without undefined members. */
function defined<T extends object>(options: T | undefined): Partial<T> {
  const entries = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<T>;
}

/** Gives events their ids and stores nothing: an id has all data to make the rest of the stream again. */
function idsOnly(eventIds: () => string) {
  return {
    storeEvent: async () => eventIds(),
    replayEventsAfter: async () => {
      throw new Error('Streams are resumed by their calls.');
    },
  };
}
