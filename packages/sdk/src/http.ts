import type { Operation } from '@agent-rental/contract';
import {
  afterRetries,
  apiErrorFromResponse,
  ApiError,
  ConnectionError,
  isApiError,
  unreachable,
} from './errors.js';
import type { Authentication } from './login.js';

/** The parts of one request. */
export interface RequestInput {
  params?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  body?: unknown;
  /** Bytes to send unchanged, in place of `body`; `headers` name their type. */
  upload?: Blob | Uint8Array<ArrayBuffer> | string;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Whether a retry of the request is safe. A retry of a `GET` is always safe. */
  repeatable?: boolean;
}

/** The facts of an operation that a request needs. */
export type Target = Pick<Operation, 'method' | 'path' | 'auth' | 'stream'>;

export interface HttpOptions {
  baseUrl: string;
  fetch: typeof fetch;
  /** Absent: the client has no login, and pays for its calls. */
  authentication: Authentication | undefined;
  /** Retries of a repeatable request after a 429, 500, 503 or a lost connection. */
  retries: number;
}

const RETRIED_STATUS = new Set([429, 500, 503]);
const BACKOFF_MS = { first: 250, most: 8_000 };
/** The longest `Retry-After` that the client waits for. Rate limits count by the minute. The caller decides on longer waits. */
const RETRY_AFTER_MOST_SECONDS = 60;

/**
 * Sends one request of an operation and returns the result of `read` for its successful response. An answer that breaks
 * off counts as a lost connection.
 *
 * @throws ApiError when the API answers with an error, ConnectionError when it cannot be reached, and the
 * signal's reason when aborted.
 */
export async function sendRequest<T>(
  http: HttpOptions,
  operation: Target,
  input: RequestInput,
  read: (response: Response) => T | Promise<T>,
): Promise<T> {
  const url = http.baseUrl + pathOf(operation, input);
  const repeatable = operation.method === 'GET' || input.repeatable === true;
  let renewed = false;
  /** The error of the first try that started a run. It must not be lost: the run may have been charged. */
  let first: ApiError | undefined;
  for (let attempt = 0; ; attempt += 1) {
    const answer = await tryOnce(http, operation, input, url, read);
    if ('value' in answer) return answer.value;
    const outcome = answer.error;
    if (outcome instanceof ApiError && outcome.code === 'jwt_expired' && !renewed) {
      renewed = true;
      if (http.authentication?.renew()) continue;
    }
    if (outcome instanceof ApiError && outcome.runId !== undefined) first ??= outcome;
    const temporary = outcome instanceof ConnectionError || RETRIED_STATUS.has(outcome.status);
    if (!repeatable || !temporary || attempt >= http.retries) throw afterRetries(outcome, first);
    const asked = outcome instanceof ApiError ? outcome.retryAfterSeconds : undefined;
    if (asked !== undefined && asked > RETRY_AFTER_MOST_SECONDS) throw afterRetries(outcome, first);
    await pause(asked === undefined ? backoffMs(attempt) : asked * 1000, input.signal);
  }
}

async function tryOnce<T>(
  http: HttpOptions,
  operation: Target,
  input: RequestInput,
  url: string,
  read: (response: Response) => T | Promise<T>,
): Promise<{ value: T } | { error: ApiError | ConnectionError }> {
  const headers: Record<string, string> = {
    accept: operation.stream ? 'text/event-stream' : 'application/json',
    ...input.headers,
  };
  const init: RequestInit = { method: operation.method, headers };
  if (input.signal) init.signal = input.signal;
  if (input.body !== undefined) {
    headers['content-type'] = 'application/json';
    init.body = JSON.stringify(input.body);
  } else if (input.upload !== undefined) {
    init.body = input.upload;
  }
  try {
    const { authentication } = http;
    if (operation.auth === 'bearer' && authentication && headers['authorization'] === undefined) {
      headers['authorization'] = await unlessAborted(authentication.header(), input.signal);
    }
  } catch (error) {
    // Other errors come from the signer: the client does not ask a wallet again after a refusal.
    if (isApiError(error) || error instanceof ConnectionError) return { error };
    throw error;
  }
  try {
    const response = await http.fetch(url, init);
    if (response.ok) return { value: await read(response) };
    return { error: await apiErrorFromResponse(response) };
  } catch (error) {
    input.signal?.throwIfAborted();
    return { error: unreachable(http.baseUrl, error) };
  }
}

function pathOf(operation: Target, input: RequestInput): string {
  const path = operation.path.replace(/:([a-z_]+)/g, (_, name: string) =>
    encodeURIComponent(input.params?.[name] ?? ''),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size > 0 ? `${path}?${query}` : path;
}

/** Exponential backoff with full jitter, so that many clients do not retry at the same time. */
export function backoffMs(attempt: number): number {
  return Math.random() * Math.min(BACKOFF_MS.most, BACKOFF_MS.first * 2 ** attempt);
}

/** Ends this call's wait for shared work at an abort. The work goes on for other calls. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason as Error);
    if (signal.aborted) aborted();
    signal.addEventListener('abort', aborted, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}

/** Waits. Rejects with the signal's reason. */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
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
