import type { WebPage } from '@agent-rental/agent-runner';
import { createDeadline, type Deadline } from '@agent-rental/contract';
import { ForbiddenUrlError, type OutboundHttp } from '../../platform/outbound-http.js';

const TIMEOUT_MS = 15_000;
/** Bytes that are read of a page; the rest is left out. */
const MAX_BYTES = 1024 * 1024;
/** Characters that a model gets of it. */
const MAX_CHARACTERS = 100_000;
const MAX_REDIRECTS = 5;
const TEXT = /^(text\/|application\/([a-z0-9.+-]*\+)?(json|xml|yaml|javascript|x-ndjson|toml)$)/;

/** A page that is not read; the message says why, to the model that asked. */
export class WebRefusal extends Error {
  override readonly name = 'WebRefusal';
}

/** Reads pages for agents, on the host: sandboxes have no network. */
export interface WebReader {
  /**
   * Reads a public page by GET, over https alone, bounded in time and size. The address is checked at the connection and
   * after each redirect. There are no credentials, cookies or referrer.
   *
   * @throws WebRefusal; the signal's reason when it aborts.
   */
  read(url: string, signal: AbortSignal): Promise<WebPage>;
}

/** `timeoutMs` is for all of a page, redirects included. */
export function createWebReader(
  outbound: Pick<OutboundHttp, 'fetch'>,
  { timeoutMs = TIMEOUT_MS }: { timeoutMs?: number } = {},
): WebReader {
  return {
    async read(url, signal) {
      const deadline = createDeadline(timeoutMs, signal);
      try {
        const { response, at } = await follow(outbound.fetch, url, deadline.signal);
        return await toPage(response, at);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof WebRefusal) throw error;
        throw new WebRefusal(`The page could not be read: ${reasonOf(error, deadline)}.`, { cause: error });
      } finally {
        deadline.clear();
      }
    },
  };
}

async function follow(
  fetch: typeof globalThis.fetch,
  url: string,
  signal: AbortSignal,
): Promise<{ response: Response; at: string }> {
  let at = url;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
    const response = await fetch(at, {
      method: 'GET',
      headers: { accept: 'text/*, application/json, application/xml;q=0.9', 'user-agent': 'agent-rental' },
      signal,
    });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) return { response, at };
    await response.body?.cancel();
    if (!URL.canParse(location, at)) throw new WebRefusal('The page leads to a malformed URL.');
    // `fetch` checks the new address as it checked the first one.
    at = new URL(location, at).href;
  }
  throw new WebRefusal(`The page was redirected more than ${MAX_REDIRECTS} times.`);
}

async function toPage(response: Response, url: string): Promise<WebPage> {
  const contentType = response.headers.get('content-type') ?? '';
  const mediaType = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (!TEXT.test(mediaType)) {
    await response.body?.cancel();
    throw new WebRefusal(`The page is not text but ${JSON.stringify(mediaType.slice(0, 100))}.`);
  }
  const { bytes, isCut } = await readUpTo(response, MAX_BYTES);
  const text = decoderOf(contentType).decode(bytes);
  return {
    url,
    status: response.status,
    content_type: mediaType,
    text: text.slice(0, MAX_CHARACTERS),
    truncated: isCut || text.length > MAX_CHARACTERS,
  };
}

/** The beginning of a body; the rest is not waited for. */
async function readUpTo(response: Response, most: number): Promise<{ bytes: Buffer; isCut: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    // Leaving the loop cancels the body.
    if (size > most) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, most), isCut: size > most };
}

function decoderOf(contentType: string): TextDecoder {
  const label = /charset="?([\w-]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}

/** Replaces the error of the connection by our own words: it may name internal addresses. */
function reasonOf(error: unknown, deadline: Deadline): string {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; depth += 1) {
    if (cause instanceof ForbiddenUrlError) return cause.message;
    cause = cause.cause;
  }
  return deadline.isOver ? 'it took too long' : 'the connection failed';
}
