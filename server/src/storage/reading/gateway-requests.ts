import { ForbiddenUrlError, type OutboundHttp } from '../../platform/outbound-http.js';
import { createDeadline } from '@agent-rental/contract';
import { ContentRefusal } from './content-errors.js';

/** A gateway gave no usable answer: another one is asked. */
export class GatewayError extends Error {
  override readonly name: string = 'GatewayError';
}

/** A gateway gives more bytes than were allowed. */
export class AnswerTooLargeError extends GatewayError {
  override readonly name = 'AnswerTooLargeError';
}

/** Gateways with a separate origin for each content redirect to it. */
const MAX_REDIRECTS = 3;

/** One request to a gateway. */
export interface GatewayRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly body?: Uint8Array | FormData | string;
  /** Until the last byte. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a request by the guard for outbound calls, redirects included, and hands its answer to `use`.
 *
 * @returns undefined when there is no such content (404, 410).
 * @throws GatewayError for every other unsuccessful answer, for a forbidden or silent host, and at the timeout.
 */
export async function askGateway<Result>(
  outbound: OutboundHttp,
  { url, headers, method = 'GET', body, timeoutMs, signal }: GatewayRequest,
  use: (response: Response) => Promise<Result>,
): Promise<Result | undefined> {
  const deadline = createDeadline(timeoutMs, ...(signal ? [signal] : []));
  try {
    let target = url;
    for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
      const response = await outbound.fetch(target, {
        method,
        signal: deadline.signal,
        ...(headers ? { headers: { ...headers } } : {}),
        ...(body === undefined ? {} : { body: body as NonNullable<RequestInit['body']> }),
      });
      const location = response.headers.get('location');
      if (method === 'GET' && response.status >= 300 && response.status < 400 && location !== null) {
        await response.body?.cancel();
        target = new URL(location, target).href;
        continue;
      }
      if (response.ok) return await use(response);
      await response.body?.cancel();
      if (response.status === 404 || response.status === 410) return undefined;
      throw new GatewayError(`it answered ${response.status}`);
    }
    throw new GatewayError('it redirects too often');
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof GatewayError || error instanceof ContentRefusal) throw error;
    if (error instanceof ForbiddenUrlError) throw new GatewayError(error.message, { cause: error });
    throw new GatewayError(deadline.isOver ? 'it is too slow' : 'it does not answer', { cause: error });
  } finally {
    deadline.clear();
  }
}

/** A body, up to a bound. @throws AnswerTooLargeError beyond it. */
export async function readBytes(response: Response, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new AnswerTooLargeError(`it gives more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
