import { isApiError, type RentalClient } from '@agent-rental/sdk';
import {
  DirectToolCache,
  JsonTextError,
  readJson,
  readToolSelection,
  rentedToolset,
  resultOfError,
  ToolSelectionError,
  type ToolSelection,
} from '@agent-rental/tools';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  DEFAULT_MAX_REQUEST_BODY_SIZE,
  hostHeaderValidationResponse,
  isInitializeRequest,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  isLegacyRequest,
  originValidationResponse,
  readRequestBody,
  type JSONRPCRequest,
  type JSONRPCResponse,
  type McpServerFactory,
  type Server,
} from '@modelcontextprotocol/server';
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { beginEarly } from './early-stream.js';
import { LegacyExchanges } from './legacy-exchange.js';
import { takesMediaType } from './media-ranges.js';
import { OpenAnswers, untilEnd } from './open-answers.js';
import { createRentalServer } from '../rental-server.js';
import type { CallPayments, HttpCall, RentalServerOptions } from '../rental-server-options.js';
import { Listeners } from './listeners.js';
import { readReplicaMessage, type ReplicaBus, type ReplicaMessage } from './replica-bus.js';
import { LAST_EVENT_HEADER, newCallKey, Resumption, type ResumableCall } from './resumption.js';
import { keyOfCall, RunningCalls, type CallAddress } from '../calls/running-calls.js';
import { SESSION_HEADER, Sessions } from '../sessions/sessions.js';
import { createTokenSigner, type CarriedSecret } from '../sessions/signed-token.js';

/** The caller of a request, verified by the host of the handler. */
export interface RentalMcpCaller {
  /** The caller's client for this request. */
  readonly client: RentalClient;
  /** The same for every request of a caller, and another for each of its API keys, which do not see each other's calls. */
  readonly id: string;
  /** The marketplace's address for the caller's owner, who pays there. Default: the client's address. */
  readonly publicUrl?: string | undefined;
  /** Whether the caller has pinned versions, so that its listings differ from other callers'. Default false. */
  readonly hasPins?: boolean | undefined;
  /** Lets its calls be paid for one by one. Default: they need a rental. */
  readonly payments?: CallPayments | undefined;
}

/** Options of {@link createRentalMcpHandler}. */
export interface RentalMcpHandlerOptions extends Omit<
  RentalServerOptions,
  'toolset' | 'client' | 'publicUrl' | 'call' | 'inputFolder' | 'callerId' | 'era' | 'payments'
> {
  /** Most direct tools per caller. Default 30. */
  readonly toolLimit?: number | undefined;
  /** Address of the marketplace program. Default: the published program. */
  readonly programId?: string | undefined;
  /**
   * Signs the state that clients carry: sessions, and ids of stream events. At least 32 bytes, equal on every replica and after
   * a restart. A function returns the secrets of a rotation. Default: random, for one process.
   */
  readonly secret?: CarriedSecret | undefined;
  /** Largest body of a request, in bytes. Default: the bound of the MCP SDK. */
  readonly maxBodyBytes?: number | undefined;
  /**
   * Parses the text of a body as JSON. Rejects with a JsonTextError for other text, or for a body beyond the bounds. Default:
   * `readJson` of the contract.
   */
  readonly parseBody?: ((text: string) => unknown) | undefined;
  /** Connects the other replicas. Default: no other replicas. */
  readonly bus?: ReplicaBus | undefined;
  /**
   * Allowed host names, without ports. Requests with other hosts or from pages of other sites get a 403. For servers on a
   * person's machine, which web pages could otherwise reach. Default: any host.
   */
  readonly allowedHosts?: readonly string[] | undefined;
}

/** MCP over Streamable HTTP. */
export interface RentalMcpHandler {
  /** Serves a Node request whose body has not been read. Resolves when the response has ended. */
  handle(incoming: IncomingMessage, outgoing: ServerResponse, caller: RentalMcpCaller): Promise<void>;
  /** Serves a web-standard request. */
  fetch(request: Request, caller: RentalMcpCaller): Promise<Response>;
  /**
   * Waits up to `graceMs` (default 0) for the open answers, then ends every running call. The runs go on for a while, and
   * clients can ask for them again.
   */
  close(graceMs?: number): Promise<void>;
}

/** The data of a request for the factory of its server. */
interface Carried {
  readonly caller: RentalMcpCaller;
  readonly call: HttpCall;
  /** The rentals with a direct tool, from the request's query. */
  readonly select: ToolSelection | undefined;
}

/** A signal for calls that end only with their connection. */
const never = new AbortController().signal;

/**
 * Makes a handler of MCP over HTTP, for the 2026-07-28 revision and earlier eras. Mount it at one path for `GET`, `POST` and
 * `DELETE`. It keeps a caller's state only during a request: every replica can serve every request. The mounting server does
 * authentication, rate limits and CORS.
 */
export function createRentalMcpHandler(options: RentalMcpHandlerOptions = {}): RentalMcpHandler {
  const {
    toolLimit,
    programId,
    secret = randomBytes(32),
    bus,
    allowedHosts,
    maxBodyBytes = DEFAULT_MAX_REQUEST_BODY_SIZE,
    parseBody = readJson,
    ...serverOptions
  } = options;
  const cache = new DirectToolCache();
  const signer = createTokenSigner(secret);
  const sessions = new Sessions(signer);
  const resumption = new Resumption(signer);
  const running = new RunningCalls();
  const exchanges = new LegacyExchanges();
  const answers = new OpenAnswers();
  const onerror = (error: Error): void => options.onError?.(error);

  const serverFor = ({ caller, call, select }: Carried, era: 'legacy' | 'modern'): Server => {
    const { client, publicUrl, hasPins = false, id: callerId, payments } = caller;
    const toolset = rentedToolset(client, {
      limit: toolLimit,
      select,
      cache: hasPins ? new DirectToolCache() : cache,
      publicUrl,
      programId,
    });
    const parts = { toolset, client, publicUrl, call, callerId, era, payments };
    return createRentalServer({ ...serverOptions, secret, ...parts });
  };
  const modernServer: McpServerFactory = ({ authInfo }) =>
    serverFor((authInfo?.extra ?? {}) as unknown as Carried, 'modern');
  const stateless = createMcpHandler(modernServer, { onerror, legacy: 'reject' });
  const listeners = new Listeners(modernServer, onerror);

  bus?.subscribe((text) => act(readReplicaMessage(text)));
  function act(message: ReplicaMessage | undefined): void {
    if (message?.kind === 'cancel') running.cancelByKey(message.call);
    else if (message?.kind === 'answer') exchanges.deliver(message.message);
    else if (message?.kind === 'ended') sessions.end(message.session);
  }
  /** Applies a message here and on the other replicas. */
  const everywhere = (message: ReplicaMessage): void => {
    act(message);
    bus?.publish(JSON.stringify(message)).catch(onerror);
  };

  const serveStateless = async (
    request: Request,
    caller: RentalMcpCaller,
    body: unknown,
    key: string,
  ): Promise<Response> => {
    const started = isToolCall(body) ? running.begin(addressOf(request, caller, body.id), key) : undefined;
    // The SDK does not verify it, and only passes it to the factory above.
    const extra: Carried = {
      caller,
      select: selectionOf(request),
      call: { key, cancelled: started?.signal ?? never, caller: caller.id },
    };
    const authInfo = { token: '', clientId: caller.id, scopes: [], extra: { ...extra } };
    const given = { authInfo, ...(body === undefined ? {} : { parsedBody: body }) };
    if (isSubscription(body)) {
      return listeners.serve(caller.client, request, given).catch((error: unknown) => {
        if (!isApiError(error)) throw error;
        return rejection(200, -32_603, resultOfError(error).text, idOf(body));
      });
    }
    const answer = stateless.fetch(request, given);
    if (started === undefined || !isToolCall(body)) return answer;
    const released = releasedAtEnd(answer, started.release);
    const eventIds = resumption.eventIds(caller.id, { key, request: body });
    return eventIds === undefined ? released : beginEarly(released, body, eventIds);
  };

  const serveLegacy = async (
    request: Request,
    caller: RentalMcpCaller,
    body: unknown,
    key: string,
  ): Promise<Response> => {
    const sessionId = request.headers.get(SESSION_HEADER) ?? undefined;
    if (sessionId !== undefined && sessions.isEnded(caller.id, sessionId)) {
      return rejection(404, -32_001, 'The session has been ended by its client.');
    }
    const accept = request.headers.get('accept');
    const takesStream = takesMediaType(accept, 'text/event-stream');
    if (!takesStream && !takesMediaType(accept, 'application/json'))
      return rejection(406, -32_000, 'Accept application/json and text/event-stream.', idOf(body));
    const isCall = isToolCall(body);
    const started = isCall ? running.begin(addressOf(request, caller, body.id), key) : undefined;
    const callerName = sessionId === undefined ? caller.id : sessions.key(caller.id, sessionId);
    const call: HttpCall = { key, cancelled: started?.signal ?? never, caller: callerName };
    const response = await exchanges.serve(
      {
        server: serverFor({ caller, call, select: selectionOf(request) }, 'legacy'),
        request,
        body,
        // A question to the client needs a stream.
        client: sessionId === undefined || !takesStream ? undefined : sessions.read(caller.id, sessionId),
        eventIds: isCall ? resumption.eventIds(caller.id, { key, request: body, sessionId }) : undefined,
      },
      () => started?.release(),
    );
    if (isInitializeRequest(body) && response.ok)
      response.headers.set(SESSION_HEADER, sessions.open(caller.id, body.params));
    return takesStream ? response : lastMessage(response, idOf(body));
  };

  /** Takes a client's answer to a question of its call, which may run on another replica. */
  const takeAnswer = (message: JSONRPCResponse): Response => {
    everywhere({ kind: 'answer', message });
    return new Response(null, { status: 202 });
  };

  const serveMessage = (
    request: Request,
    caller: RentalMcpCaller,
    body: unknown,
    key = newCallKey(),
  ): Promise<Response> => {
    const requestId = cancelledIdOf(body);
    if (requestId !== undefined)
      everywhere({ kind: 'cancel', call: keyOfCall(addressOf(request, caller, requestId)) });
    const serve = async () =>
      body !== undefined && (await isLegacyRequest(request, body))
        ? serveLegacy(request, caller, body, key)
        : serveStateless(request, caller, body, key);
    return isSubscription(body) ? serve() : answers.track(serve());
  };

  /** The rest of a broken stream: it repeats the call under the key of its run. */
  const resume = async (request: Request, caller: RentalMcpCaller): Promise<Response> => {
    const eventId = request.headers.get(LAST_EVENT_HEADER);
    const call = eventId === null ? undefined : resumption.read(caller.id, eventId);
    if (call === undefined) {
      return eventId === null
        ? rejection(405, -32_000, 'There is no stream to listen to: send POST requests.')
        : rejection(400, -32_600, 'Last-Event-ID is not an event of this caller.');
    }
    return serveMessage(asPost(request, call), caller, call.request, call.key);
  };

  const end = (request: Request, caller: RentalMcpCaller): Response => {
    const sessionId = request.headers.get(SESSION_HEADER);
    if (sessionId === null) return rejection(400, -32_600, 'Mcp-Session-Id is missing.');
    everywhere({ kind: 'ended', session: sessions.key(caller.id, sessionId) });
    return new Response(null, { status: 204 });
  };

  const fetch = async (request: Request, caller: RentalMcpCaller): Promise<Response> => {
    const refused = allowedHosts && refuseForeign(request, allowedHosts);
    if (refused) return refused;
    try {
      selectionOf(request);
    } catch (error) {
      if (!(error instanceof ToolSelectionError)) throw error;
      return rejection(400, -32_600, `The query parameter tools cannot be read. ${error.message}`);
    }
    if (request.method === 'GET') return resume(request, caller);
    if (request.method === 'DELETE') return end(request, caller);
    if (request.method !== 'POST') return rejection(405, -32_000, 'Method not allowed.');
    const read = await readRequestBody(request, maxBodyBytes);
    if (read.tooLarge) return rejection(413, -32_000, 'The request is too large.');
    // Refuse a batch before it is parsed.
    if (/^\s*\[/.test(read.text))
      return rejection(400, -32_600, 'Batches are not supported: send one message at a time.');
    const body = await parsed(read.text, parseBody);
    if (body instanceof JsonTextError) {
      const code = body.fault === 'syntax' ? -32_700 : -32_600;
      return rejection(400, code, `The request ${body.message}.`);
    }
    if (isJSONRPCResponse(body)) return takeAnswer(body);
    if (hasWrongParams(body)) return rejection(400, -32_602, WRONG_PARAMS, idOf(body));
    return serveMessage(request, caller, body);
  };

  return {
    fetch,
    handle: (incoming, outgoing, caller) =>
      toNodeHandler({ fetch: (request) => fetch(request, caller) }, { onerror })(
        // Node's own type has the two fields as possibly absent, the SDK's as possibly missing.
        incoming as IncomingMessage & { method: string; url: string },
        outgoing,
      ),
    close: async (graceMs = 0) => {
      await answers.ended(graceMs);
      exchanges.closeAll();
      await listeners.close();
      await stateless.close();
    },
  };
}

/** @throws ToolSelectionError */
function selectionOf({ url }: Request): ToolSelection | undefined {
  return readToolSelection(new URL(url).searchParams.get('tools'));
}

/** The address of a call. A caller without a session is named by its key. */
function addressOf(request: Request, caller: RentalMcpCaller, requestId: string | number): CallAddress {
  return { callerId: caller.id, sessionId: request.headers.get(SESSION_HEADER) ?? '', requestId };
}

/** The request that a message cancels; undefined for any other message. */
function cancelledIdOf(body: unknown): string | number | undefined {
  if (!isJSONRPCNotification(body) || body.method !== 'notifications/cancelled') return undefined;
  const requestId = body.params?.['requestId'];
  return typeof requestId === 'string' || typeof requestId === 'number' ? requestId : undefined;
}

/** The same answer; `release` is called at its end. */
async function releasedAtEnd(answer: Promise<Response>, release: () => void): Promise<Response> {
  try {
    const response = await answer;
    if (response.body !== null) return new Response(untilEnd(response.body, release), response);
    release();
    return response;
  } catch (error) {
    release();
    throw error;
  }
}

function isToolCall(body: unknown): body is JSONRPCRequest {
  return isJSONRPCRequest(body) && body.method === 'tools/call';
}

/** A stream of notifications, which ends only with its connection. */
function isSubscription(body: unknown): boolean {
  return isJSONRPCRequest(body) && body.method === 'subscriptions/listen';
}

/** The original request of a call, from a request for the rest of its stream. */
function asPost({ url, headers: given, signal }: Request, { request, sessionId }: ResumableCall): Request {
  const headers = new Headers(given);
  headers.delete(LAST_EVENT_HEADER);
  headers.set('content-type', 'application/json');
  headers.set('accept', 'application/json, text/event-stream');
  if (sessionId === undefined) {
    headers.delete(SESSION_HEADER);
    const { _meta: meta, name } = request.params ?? {};
    const version = meta?.['io.modelcontextprotocol/protocolVersion'];
    if (typeof version === 'string') headers.set('mcp-protocol-version', version);
    headers.set('mcp-method', request.method);
    if (typeof name === 'string') headers.set('mcp-name', name);
  } else headers.set(SESSION_HEADER, sessionId);
  return new Request(url, { method: 'POST', headers, signal, body: JSON.stringify(request) });
}

function refuseForeign(request: Request, allowed: readonly string[]): Response | undefined {
  return (
    hostHeaderValidationResponse(request, [...allowed]) ?? originValidationResponse(request, [...allowed])
  );
}

/** The value of a body, or the rule that its text breaks. */
async function parsed(text: string, parse: (text: string) => unknown): Promise<unknown> {
  try {
    return await parse(text);
  } catch (error) {
    if (error instanceof JsonTextError) return error;
    throw error;
  }
}

const WRONG_PARAMS =
  'The parameters have a wrong form. "params" must be an object, and "_meta" in it, too. "progressToken" in "_meta" must be a ' +
  'text or a whole number.';

/** Whether a message would be a request with other parameters. */
function hasWrongParams(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || isJSONRPCRequest(body)) return false;
  const { params, ...rest } = body as { params?: unknown };
  return params !== undefined && isJSONRPCRequest(rest);
}

/** The id of a request; null for any other message. */
function idOf(body: unknown): string | number | null {
  const id = (body as { id?: unknown } | null | undefined)?.id;
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}

/** The result alone, for a client that takes no stream. */
async function lastMessage(response: Response, id: string | number | null): Promise<Response> {
  if (response.headers.get('content-type') !== 'text/event-stream') return response;
  const events = (await response.text()).split('\n');
  const message = events.findLast((line) => line.startsWith('data: {'))?.slice('data: '.length);
  if (message === undefined) return rejection(500, -32_603, 'Internal error', id);
  const headers = new Headers(response.headers);
  headers.set('content-type', 'application/json');
  return new Response(message, { headers });
}

function rejection(
  status: number,
  code: number,
  message: string,
  id: string | number | null = null,
): Response {
  const headers = status === 405 ? { headers: { allow: 'POST, DELETE' } } : {};
  return Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status, ...headers });
}
