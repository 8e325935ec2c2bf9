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

/** Separates an exchange's id from the id that its server gave a question. */
const SEPARATOR = '/';

/** One request of an era before 2026-07-28, with the server that serves it. */
interface ExchangeOptions {
  readonly server: Server;
  readonly request: Request;
  readonly body: unknown;
  /** The client's words at the start of its session: they decide which questions it can get. */
  readonly client?: ClientFacts | undefined;
  /** Ids for the events of its stream. */
  readonly eventIds?: (() => string) | undefined;
}

/**
 * Serves requests of the eras before 2026-07-28, each with a separate server and transport. What a session would
 * keep comes with the request: the client's abilities, and the place of its answers to questions.
 */
export class LegacyExchanges {
  readonly #open = new Map<string, { deliver: (message: JSONRPCMessage) => void; close: () => void }>();

  /** Serves one request; the answer may go on as a stream. `onEnd` is called when nothing of it is left. */
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
      const response = await transport.handleRequest(request, { parsedBody: body });
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

  /** Gives an answer of a client to the exchange that asked; does nothing where that is not served here. */
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
 * Lets a server know its client by the handshake that happened in another exchange, and gives its questions ids that
 * no other exchange has.
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
    // There is one request, and its stream is the only one: all that the server says belongs to it.
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

/** Without members that are undefined. */
function defined<T extends object>(options: T | undefined): Partial<T> {
  const entries = Object.entries(options ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<T>;
}

/** Gives events their ids and stores nothing: an id says all that is needed to make the stream's rest again. */
function idsOnly(eventIds: () => string) {
  return {
    storeEvent: async () => eventIds(),
    replayEventsAfter: async () => {
      throw new Error('Streams are taken up again by their calls.');
    },
  };
}
