import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import cors from '@fastify/cors';
import {
  fastify,
  LogController,
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import {
  A2A_AGENT_PATH,
  A2A_PATH,
  MCP_PATH,
  OAUTH_PATHS,
  operations,
  type Operation,
} from '@agent-rental/contract';
import { ApiError, internalError } from '../errors/api-error.js';
import { bodyTooLarge, refuseBrokenRequest, refuseEncodedBody } from './broken-requests.js';
import { addJsonBodies, discardBody } from './json-body.js';
import type { InternalRequests } from './internal-requests.js';
import { noSuchRoute } from './known-methods.js';
import { keyFaultOf, quotable } from './rpc-refusal.js';
import type { Logger } from '../platform/logger.js';
import type { Principal } from '../access/principal.js';
import { clientAddress } from '../rate-limits/client-address.js';
import { createFailedChecks, type FailedChecks } from '../rate-limits/failed-checks.js';
import type { RateLimits, RateState } from '../rate-limits/memory.js';
import { refuseIfExceeded } from '../rate-limits/refuse-if-exceeded.js';
import { traceRequests } from './trace-requests.js';

/** Largest body of a route that is no operation; operations have other bounds. */
const BODY_LIMIT_BYTES = 64 * 1024;
const HEADERS = {
  requestId: 'X-Request-Id',
  limit: 'X-RateLimit-Limit',
  remaining: 'X-RateLimit-Remaining',
  reset: 'X-RateLimit-Reset',
} as const;

/** An address may make so many times the requests of one wallet: wallets are free. */
const WALLETS_PER_ADDRESS = 10;

/** The whole request has to arrive within this time. */
const REQUEST_TIMEOUT_MS = 30_000;

/** A route of the running server. */
export interface Route {
  readonly method: string;
  readonly path: string;
  readonly auth: Operation['auth'] | undefined;
}

/** How a route that speaks another protocol than the API writes errors. */
interface ErrorForm {
  /** The body of the answer. */
  body(error: ApiError, requestId: string): object;
  /** The value of `WWW-Authenticate` of a 401. */
  challenge(error: ApiError, request: FastifyRequest): string;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may call the route; a route that says nothing is open to everybody, and its calls are not limited. */
    auth?: Operation['auth'];
    /** Whether access tokens of connected apps are for the route. */
    takesAppTokens?: boolean;
    /** Writes errors in the form of the route's own protocol. */
    errorForm?: ErrorForm;
    /** Whether a payment in the request takes the place of credentials. The hook of payments decides about such requests. */
    takesPayments?: boolean;
    /** The operation that the route serves, whose schema its body has. */
    operationId?: string;
  }
  interface FastifyInstance {
    /** Every route there is, as the router has it. */
    readonly routes: Route[];
  }
  interface FastifyRequest {
    /** The caller; null before authentication and where none is asked for. */
    principal: Principal | null;
    /** Checks the bearer again, for a response that takes long. Rejects where it has ended. */
    checkAgain: () => Promise<Principal>;
    /** The tightest limit that this request was counted against. */
    rate: RateState | null;
  }
}

export interface HttpServerOptions {
  logger: Logger;
  rateLimits: RateLimits;
  requestsPerMinute: number;
  internalRequests: InternalRequests;
  /** False while there is no room for the writes of a request. */
  hasRoom?(): boolean;
  /** Whether requests are spans of traces. */
  isTraced?: boolean;
  /** Hears of each request that was answered. */
  onAnswered?(request: { method: string; route: string; status: number; seconds: number }): void;
  /** Gives the caller of a bearer that was verified before, without checking it again. */
  recall?(authorization: string): Principal | undefined;
  /** Identifies the bearer; throws an ApiError of 401. */
  authenticate(
    authorization: string | undefined,
    destination: { request: FastifyRequest; takesAppTokens: boolean },
  ): Promise<Principal>;
  /**
   * Holds a token that is bound to a key to a proof of that key. Gives what uses the proof up; undefined for other callers.
   * Both throw an ApiError of 401.
   */
  checkProof?(request: FastifyRequest, caller: Principal): Promise<(() => Promise<void>) | undefined>;
  /** Answers a person in a browser with an error as a page. */
  sendErrorPage?(reply: FastifyReply, error: ApiError, requestId: string): Promise<unknown>;
  /** Addresses and ranges of proxies that say where a request came from; by default none is believed. */
  trustedProxies?: readonly string[];
  /** Longest time for a request to arrive; by default 30 s. */
  requestTimeoutMs?: number;
}

/** Makes the HTTP server: request ids, authentication, rate limits, the error envelope. Slices add their routes. */
export async function createHttpServer(options: HttpServerOptions): Promise<FastifyInstance> {
  const loggerInstance: FastifyBaseLogger = options.logger;
  // Its lines have six fields, all made here: looking for secrets in them doubles the cost of a line.
  const accessLog = options.logger.child({}, { redact: [] });
  const requestTimeout = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  const failedChecks = createFailedChecks(options.rateLimits, options.requestsPerMinute);
  const app = fastify({
    loggerInstance,
    genReqId: ({ headers }) => options.internalRequests.requestIdOf(headers) ?? newRequestId(),
    trustProxy: options.trustedProxies?.length ? [...options.trustedProxies] : false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout,
    http: { connectionsCheckingInterval: Math.min(5_000, requestTimeout), headersTimeout: requestTimeout },
    clientErrorHandler: (error, socket) => {
      const requestId = newRequestId();
      void refuseBrokenRequest(error, socket, requestId, async () => ({
        [HEADERS.requestId]: requestId,
        ...rateHeaders(await countOpen(options, socket.remoteAddress)),
      }));
    },
    forceCloseConnections: 'idle',
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 200 },
    logController: new LogController({ disableRequestLogging: true }),
    return503OnClosing: false,
    // For paths that no router can read: these requests pass no hook.
    frameworkErrors: (error, request, reply) => void refuseUnreadable(error, request, reply, options),
  });
  app.decorateRequest('principal', null);
  app.decorateRequest('rate', null);
  app.decorateRequest('checkAgain', async () => {
    throw new ApiError('unauthorized', 'The API key or token is missing.');
  });
  const routes: Route[] = [];
  app.decorate('routes', routes);
  app.addHook('onRoute', ({ method, url, config }) => {
    for (const one of [method].flat()) routes.push({ method: one, path: url, auth: config?.auth });
  });
  if (options.isTraced === true) traceRequests(app);
  addJsonBodies(app);
  await app.register(cors, {
    origin: '*',
    // An OPTIONS request that is no preflight gets the same answer, and no text of the plugin's own.
    strictPreflight: false,
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: [
      ...Object.values(HEADERS),
      'X-Run-Id',
      'Retry-After',
      'Location',
      'Preference-Applied',
      'Mcp-Session-Id',
      // A client in a browser reads in it where to log in.
      'WWW-Authenticate',
      'Payment-Receipt',
      'PAYMENT-REQUIRED',
      'PAYMENT-RESPONSE',
    ],
  });

  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onRequest', async (request, reply) => {
    options.internalRequests.closeOnAbort(request.headers, reply.raw);
    reply.header(HEADERS.requestId, request.id);
    if (closing) {
      reply.header('Connection', 'close');
      throw new ApiError('service_unavailable', 'The server is shutting down.', {
        next: 'Try again.',
        retryAfterSeconds: 5,
      });
    }
    await authenticateAndCount(request, options, failedChecks);
    // PostgreSQL keeps no such text.
    if (request.url.includes('%00'))
      throw new ApiError('invalid_request', 'The path or the query contains a null character.');
    // Before its body is read, which no schema fits.
    if (request.is404) throw noSuchRoute(routes, request, (methods) => void reply.header('Allow', methods));
    refuseEncodedBody(request.headers, reply);
    if (options.hasRoom?.() === false) requireNoWrite(request);
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const finish = () => {
      if (request.rate) reply.headers(rateHeaders(request.rate));
      done(null, payload);
    };
    if (request.rate || options.internalRequests.principalOf(request.headers)) return finish();
    // Answered before it could be counted: a preflight, or while draining.
    const count = async () => {
      reply.header(HEADERS.requestId, request.id);
      request.rate = await countOpen(options, request.ip);
    };
    count().then(finish, done);
  });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'unmatched';
    const { method } = request;
    const { statusCode: status, elapsedTime } = reply;
    options.onAnswered?.({ method, route, status, seconds: elapsedTime / 1000 });
    const ms = Math.round(elapsedTime);
    accessLog.info(
      { reqId: request.id, method, route, status, ms, wallet: request.principal?.wallet },
      'request',
    );
    done();
  });
  app.setErrorHandler(async (error: FastifyError, request, reply) => {
    const isTooLarge = error.code === 'FST_ERR_CTP_BODY_TOO_LARGE';
    if (isTooLarge) await discardBody(request.raw);
    const apiError = isTooLarge ? bodyTooLarge(request) : toApiError(error);
    if (apiError.status >= 500) request.log.error({ err: apiError.cause ?? apiError }, apiError.message);
    if (!options.sendErrorPage || !isForPeople(request)) return writeError(reply, apiError, request);
    if (apiError.retryAfterSeconds !== undefined) reply.header('retry-after', apiError.retryAfterSeconds);
    return options.sendErrorPage(reply.code(apiError.status), apiError, request.id);
  });
  return app;
}

/** Whether a person in a browser asks for a page. A browser names HTML; curl and API clients do not. */
function isForPeople({ method, url, headers }: FastifyRequest): boolean {
  const isPage = (method === 'GET' || method === 'HEAD') && !url.startsWith('/v1/');
  return isPage && (headers.accept?.includes('text/html') ?? false);
}

/** A payment in place of a bearer. */
const PAYMENT = /^Payment\b/i;

/** Requests that are served while the disk is nearly full although they are POST: calls inside of MCP are checked, and a cancelled run frees. */
const SERVED_WITHOUT_ROOM: readonly (string | undefined)[] = [
  MCP_PATH,
  A2A_PATH,
  A2A_AGENT_PATH,
  operations.cancelRun.path,
  operations.cancelRunByKey.path,
];

/** The endpoints of the logins of wallets and apps. */
const LOGIN_PATHS: readonly (string | undefined)[] = [
  operations.getChallenge.path,
  operations.createToken.path,
  operations.connectApp.path,
  OAUTH_PATHS.register,
  OAUTH_PATHS.token,
  OAUTH_PATHS.revoke,
];

/** @throws ApiError for a request that changes something. */
function requireNoWrite({ method, routeOptions }: FastifyRequest): void {
  if (!['POST', 'PUT', 'PATCH'].includes(method) || SERVED_WITHOUT_ROOM.includes(routeOptions.url)) return;
  throw new ApiError('service_unavailable', "The server's disk is nearly full.", {
    next: 'Its operator has to free some space; then try again.',
    retryAfterSeconds: 30,
  });
}

function newRequestId(): string {
  return `req_${randomUUID()}`;
}

/** Answers a request that no hook has seen in the form that every answer has. */
async function refuseUnreadable(
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
  options: HttpServerOptions,
): Promise<void> {
  reply.header(HEADERS.requestId, request.id);
  try {
    reply.headers(rateHeaders(await countOpen(options, request.ip)));
    await writeError(reply, toApiError(error), request);
  } catch (cause) {
    await writeError(reply, internalError(cause), request);
  }
}

/** Authenticates and counts one request. */
async function authenticateAndCount(
  request: FastifyRequest,
  options: HttpServerOptions,
  failedChecks: FailedChecks,
): Promise<void> {
  const internal = options.internalRequests.principalOf(request.headers);
  if (internal) {
    // Counted where it entered.
    request.principal = internal;
    request.checkAgain = options.internalRequests.checkOf(request.headers) ?? request.checkAgain;
    return;
  }
  const { auth, takesAppTokens = false, takesPayments = false } = request.routeOptions.config;
  const destination = { request, takesAppTokens };
  if (auth === undefined) {
    request.rate = await countOpen(options, request.ip);
    return;
  }
  const { authorization } = request.headers;
  request.checkAgain = () => options.authenticate(authorization, destination);
  const mayPay = takesPayments && (authorization === undefined || PAYMENT.test(authorization));
  if (auth !== 'bearer' || authorization === undefined || mayPay) {
    // Login has a count to itself: a client that loads many pages can still log in.
    const count = LOGIN_PATHS.includes(request.routeOptions.url) ? 'login' : 'ip';
    request.rate = await options.rateLimits.count(
      `${count}:${clientAddress(request.ip)}`,
      options.requestsPerMinute,
    );
    refuseIfExceeded(request.rate);
    // The error names the missing part.
    if (auth === 'bearer' && !mayPay) await options.authenticate(undefined, destination);
    return;
  }
  let useProof: (() => Promise<void>) | undefined;
  const recalled = options.recall?.(authorization);
  if (recalled) {
    request.principal = { ...recalled, address: clientAddress(request.ip) };
  } else {
    const checked = await failedChecks.check(request.ip, authorization, async () => {
      const caller = await options.authenticate(authorization, destination);
      useProof = await options.checkProof?.(request, caller);
      return caller;
    });
    if (checked.outcome !== 'right') {
      request.rate = checked.rate;
      refuseIfExceeded(request.rate);
      throw checked.outcome === 'wrong' ? checked.error : internalError('a refusal without a limit');
    }
    request.principal = { ...checked.value, address: clientAddress(request.ip) };
  }
  const rate = await options.rateLimits.count(request.principal.rateKey, options.requestsPerMinute);
  request.rate = rate;
  refuseIfExceeded(rate);
  // After the wallet's own limit, so that no wallet alone uses up the share of its neighbours.
  const shared = await options.rateLimits.count(
    `all:${clientAddress(request.ip)}`,
    options.requestsPerMinute * WALLETS_PER_ADDRESS,
  );
  if (shared.remaining < rate.remaining || shared.exceeded) request.rate = shared;
  refuseIfExceeded(shared, ' of all wallets and keys at one address');
  // After the limits, which bound the remembered proofs.
  await useProof?.();
}

/** Counts requests that are never refused, such as those for health and for unknown paths. */
function countOpen(options: HttpServerOptions, address = 'unknown'): Promise<RateState> {
  return options.rateLimits.count(`open:${clientAddress(address)}`, options.requestsPerMinute);
}

/** The three headers that every answer has; for answers that are not sent through Fastify. */
export function rateHeaders(rate: RateState | null): Record<string, string> {
  if (!rate) return {};
  return {
    [HEADERS.limit]: String(rate.limit),
    [HEADERS.remaining]: String(rate.remaining),
    [HEADERS.reset]: String(rate.resetAt),
  };
}

function writeError(reply: FastifyReply, error: ApiError, request: FastifyRequest): FastifyReply {
  if (error.retryAfterSeconds !== undefined) reply.header('Retry-After', error.retryAfterSeconds);
  // RFC 9110, section 11.6.1: a 401 says how to authenticate.
  const { errorForm } = request.routeOptions.config;
  if (error.status === 401)
    reply.header('WWW-Authenticate', errorForm?.challenge(error, request) ?? challengeOf(error, request));
  return reply
    .code(error.status)
    .send(errorForm?.body(error, request.id) ?? { error: error.body(request.id) });
}

function challengeOf(error: ApiError, request: FastifyRequest): string {
  const fault = keyFaultOf(error, request);
  return fault === undefined
    ? 'Bearer'
    : `DPoP error="${fault}", error_description="${quotable(error.reason)}"`;
}

/** Refusals of a body that clients treat by their status. */
const EXACT_STATUSES: ReadonlySet<number> = new Set([413, 415]);

/** Any thrown value as an API error; an unexpected one shows the caller nothing of itself. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const status = (error as FastifyError | undefined)?.statusCode;
  if (status !== undefined && status >= 400 && status < 500) {
    // Fastify's own refusals: malformed JSON, a wrong content type, a body that is too large.
    const reason = (error as FastifyError).message.replace(/\.?$/, '.');
    return new ApiError('invalid_request', `${STATUS_CODES[status] ?? 'Bad request'}: ${reason}`, {
      status: EXACT_STATUSES.has(status) ? status : undefined,
    });
  }
  return internalError(error);
}
