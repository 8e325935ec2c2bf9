import type { Operation } from '@agent-rental/contract';
import { apiErrorFromResponse, ApiError, ConnectionError, isApiError } from './errors.js';
import type { Authentication } from './login.js';

/** What goes into one request. */
export interface RequestInput {
  params?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Whether sending the request twice does no harm; a `GET` always may be. */
  repeatable?: boolean;
}

export interface HttpOptions {
  baseUrl: string;
  fetch: typeof fetch;
  authentication: Authentication;
  /** How often a repeatable request is tried again after a 429, 500, 503 or a lost connection. */
  retries: number;
}

const RETRIED_STATUS = new Set([429, 500, 503]);
const BACKOFF_MS = { first: 250, most: 8_000 };

/**
 * Sends one request of an operation and gives its successful response.
 *
 * @throws ApiError when the API answers with an error, ConnectionError when it cannot be reached, and the
 * signal's reason when aborted.
 */
export async function sendRequest(
  http: HttpOptions,
  operation: Operation,
  input: RequestInput,
): Promise<Response> {
  const url = http.baseUrl + pathOf(operation, input);
  const repeatable = operation.method === 'GET' || input.repeatable === true;
  let renewed = false;
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await tryOnce(http, operation, input, url);
    if (outcome instanceof Response) return outcome;
    if (outcome instanceof ApiError && outcome.code === 'jwt_expired' && !renewed) {
      renewed = true;
      if (http.authentication.renew()) continue;
    }
    const temporary = outcome instanceof ConnectionError || RETRIED_STATUS.has(outcome.status);
    if (!repeatable || !temporary || attempt >= http.retries) throw outcome;
    const asked = outcome instanceof ApiError ? outcome.retryAfterSeconds : undefined;
    await pause(asked === undefined ? backoffMs(attempt) : asked * 1000, input.signal);
  }
}

async function tryOnce(
  http: HttpOptions,
  operation: Operation,
  input: RequestInput,
  url: string,
): Promise<Response | ApiError | ConnectionError> {
  const headers: Record<string, string> = {
    accept: operation.stream ? 'text/event-stream' : 'application/json',
    ...input.headers,
  };
  const init: RequestInit = { method: operation.method, headers };
  if (input.signal) init.signal = input.signal;
  if (input.body !== undefined) {
    headers['content-type'] = 'application/json';
    init.body = JSON.stringify(input.body);
  }
  try {
    if (operation.auth === 'bearer') headers['authorization'] = await http.authentication.header();
    const response = await http.fetch(url, init);
    return response.ok ? response : await apiErrorFromResponse(response);
  } catch (error) {
    input.signal?.throwIfAborted();
    // The login answers with errors of its own.
    if (isApiError(error) || error instanceof ConnectionError) return error;
    return new ConnectionError(`The marketplace at ${http.baseUrl} could not be reached.`, { cause: error });
  }
}

function pathOf(operation: Operation, input: RequestInput): string {
  const path = operation.path.replace(/:([a-z_]+)/g, (_, name: string) =>
    encodeURIComponent(input.params?.[name] ?? ''),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

/** Exponential, with full jitter so that many clients do not come back together. */
function backoffMs(attempt: number): number {
  return Math.random() * Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** attempt);
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const aborted = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted);
      resolve();
    }, ms);
    signal?.addEventListener('abort', aborted, { once: true });
  });
}
