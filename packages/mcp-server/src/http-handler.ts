import type { RentalClient } from '@agent-rental/sdk';
import { DirectToolCache, rentedToolset } from '@agent-rental/tools';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  DEFAULT_MAX_REQUEST_BODY_SIZE,
  isInitializeRequest,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isLegacyRequest,
  readRequestBody,
} from '@modelcontextprotocol/server';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRentalServer, type RentalServerOptions } from './rental-server.js';
import { RunningCalls, SESSION_HEADER } from './running-calls.js';

/** Who sends a request; whoever mounts the handler has verified it. */
export interface RentalMcpCaller {
  /** Acts as the caller, for this request. */
  readonly client: RentalClient;
  /** The same for every request of a caller, for instance the wallet's address. */
  readonly id: string;
}

/** Options of {@link createRentalMcpHandler}. */
export interface RentalMcpHandlerOptions extends Omit<RentalServerOptions, 'toolset'> {
  /** Most direct tools per caller. Default 30. */
  readonly toolLimit?: number | undefined;
}

/** MCP over Streamable HTTP. */
export interface RentalMcpHandler {
  /** Serves a Node request whose body has not been read. Resolves when the response has ended. */
  handle(incoming: IncomingMessage, outgoing: ServerResponse, caller: RentalMcpCaller): Promise<void>;
  /** Serves a web-standard request. */
  fetch(request: Request, caller: RentalMcpCaller): Promise<Response>;
  /** Aborts every running call. */
  close(): Promise<void>;
}

/** What travels with a request to the factory of its server. */
interface Carried {
  readonly caller: RentalMcpCaller;
  /** Called when the request's server closes. */
  readonly release?: () => void;
}

/**
 * Makes a handler of MCP over HTTP, for the 2026-07-28 revision and the eras before it, to be mounted at one
 * path for `GET`, `POST` and `DELETE`. It holds no state of a caller beyond a running request: every replica
 * can serve every request. Authentication, rate limits and CORS are the mounting server's.
 */
export function createRentalMcpHandler(options: RentalMcpHandlerOptions = {}): RentalMcpHandler {
  const { toolLimit, ...serverOptions } = options;
  const cache = new DirectToolCache();
  const running = new RunningCalls();
  const onerror = (error: Error): void => options.onError?.(error);

  const handler = createMcpHandler(
    ({ authInfo }) => {
      const { caller, release } = (authInfo?.extra ?? {}) as unknown as Carried;
      const toolset = rentedToolset(caller.client, { limit: toolLimit, cache });
      const server = createRentalServer({ ...serverOptions, toolset });
      return release === undefined ? server : Object.assign(server, { onclose: release });
    },
    { onerror },
  );

  const serve = (
    request: Request,
    caller: RentalMcpCaller,
    parsedBody: unknown,
    release?: () => void,
  ): Promise<Response> => {
    // Only a carrier: the SDK verifies nothing of it and shows it to the factory above.
    const authInfo = { token: '', clientId: caller.id, scopes: [], extra: { caller, release } };
    return handler.fetch(request, { authInfo, ...(parsedBody === undefined ? {} : { parsedBody }) });
  };

  const serveLegacy = async (request: Request, caller: RentalMcpCaller, body: unknown): Promise<Response> => {
    if (isInitializeRequest(body)) {
      const response = await serve(request, caller, body);
      const headers = new Headers(response.headers);
      if (response.ok) headers.set(SESSION_HEADER, running.newSessionId());
      return new Response(response.body, { status: response.status, headers });
    }
    const sessionId = request.headers.get(SESSION_HEADER);
    if (sessionId === null) return serve(request, caller, body);
    const address = { callerId: caller.id, sessionId };
    if (isJSONRPCNotification(body) && body.method === 'notifications/cancelled') {
      const requestId = body.params?.['requestId'];
      if (typeof requestId === 'string' || typeof requestId === 'number')
        running.cancel({ ...address, requestId });
    }
    if (!isJSONRPCRequest(body) || body.method !== 'tools/call') return serve(request, caller, body);
    const { signal, release } = running.begin({ ...address, requestId: body.id });
    const cancellable = new Request(request, { signal: AbortSignal.any([request.signal, signal]) });
    const response = await serve(cancellable, caller, body, release);
    // A request that was refused never became a server that closes.
    if (!response.ok) release();
    return response;
  };

  const fetch = async (request: Request, caller: RentalMcpCaller): Promise<Response> => {
    if (request.method !== 'POST') return serve(request, caller, undefined);
    const read = await readRequestBody(request, DEFAULT_MAX_REQUEST_BODY_SIZE);
    if (read.tooLarge) return rejection(413, -32_000, 'The request is too large.');
    const { url, method, headers, signal } = request;
    const reread = new Request(url, { method, headers, signal, body: read.text });
    const body = parsed(read.text);
    if (Array.isArray(body))
      return rejection(400, -32_600, 'Batches are not supported: send one message at a time.');
    if (body !== undefined && (await isLegacyRequest(reread, body))) return serveLegacy(reread, caller, body);
    return serve(reread, caller, body);
  };

  return {
    fetch,
    handle: (incoming, outgoing, caller) =>
      toNodeHandler({ fetch: (request) => fetch(request, caller) }, { onerror })(
        // Node's own type has the two fields as possibly absent, the SDK's as possibly missing.
        incoming as IncomingMessage & { method: string; url: string },
        outgoing,
      ),
    close: async () => {
      running.cancelAll();
      await handler.close();
    },
  };
}

/** Absent for what is not JSON, which the SDK answers as the protocol wants it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function rejection(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status });
}
