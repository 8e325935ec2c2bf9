import { lookup as dnsLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { createSecureContext } from 'node:tls';
import ipaddr from 'ipaddr.js';
import { Agent, fetch as undiciFetch, type Dispatcher, type RequestInit as UndiciRequestInit } from 'undici';

/** A URL that the server will not call; the message says why and is safe to show to the URL's owner. */
export class ForbiddenUrlError extends Error {
  override readonly name = 'ForbiddenUrlError';
}

/** An answer larger than allowed. */
export class ResponseTooLargeError extends Error {
  override readonly name = 'ResponseTooLargeError';
}

/** A request, as `fetch` takes it. */
interface OutboundRequest extends RequestInit {
  /** Called when the connection is open and the request goes out on it. */
  onSent?: (() => void) | undefined;
}

/** Why a request got no answer, in our own words and the name of the error: its message may name internal addresses. */
export function connectionFailure(cause: unknown): string {
  for (let error = cause, depth = 0; error instanceof Error && depth < 5; depth += 1) {
    if (error instanceof ForbiddenUrlError) return error.message;
    const { code } = error as { code?: unknown };
    if (typeof code === 'string' && /^[A-Z_]{3,40}$/.test(code)) return `the connection failed (${code})`;
    error = error.cause;
  }
  return 'the connection failed';
}

/** Calls addresses that strangers gave, without letting them reach into our network. */
export interface OutboundHttp {
  /**
   * `fetch` for such addresses: https only, public addresses only, redirects not followed.
   *
   * @throws ForbiddenUrlError for a URL that may not be called; otherwise as `fetch` does.
   */
  readonly fetch: (input: string | URL | Request, init?: OutboundRequest) => Promise<Response>;
  /**
   * Whether a URL may be called at all; the address behind a name is checked when connecting.
   *
   * @throws ForbiddenUrlError saying why not.
   */
  checkUrl(url: string): void;
  close(): Promise<void>;
}

/**
 * Reads a body, up to a bound.
 *
 * @throws ResponseTooLargeError beyond it.
 */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) throw new ResponseTooLargeError(`the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return decoderOf(response).decode(Buffer.concat(chunks));
}

/** The decoder of a response's text by its charset; UTF-8 where that is absent or unknown. It drops a byte order mark. */
export function decoderOf(response: Response): TextDecoder {
  const type = response.headers.get('content-type') ?? '';
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(type) ?? [];
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

/** An endpoint may ask to keep an idle connection; undici's own limit is ten minutes. */
const KEEP_ALIVE_MAX_MS = 15_000;

/** Public by their range, and yet a cloud's own services to the machines inside it: Azure's. */
const METADATA_ADDRESSES = new Set(['168.63.129.16']);

/** Addresses that carry an IPv4 address inside: NAT64, 6to4, mapped and compatible ones are judged by it. */
function embeddedV4(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const bytes = address.toByteArray();
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  const isZero = (start: number, end: number) => bytes.slice(start, end).every((byte) => byte === 0);
  if (isZero(0, 12)) return new ipaddr.IPv4(bytes.slice(12));
  const range = address.range();
  // 64:ff9b::/96. A network's own NAT64 prefix carries the address elsewhere, and is never public.
  const wellKnown = isZero(4, 12);
  if ((range === 'rfc6052' && wellKnown) || range === 'rfc6145') return new ipaddr.IPv4(bytes.slice(12));
  if (range === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6));
  return undefined;
}

/** Whether a URL names this machine. */
export function isLoopbackUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const host = new URL(text).hostname.replace(/^\[|\]$/g, '');
  return host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback');
}

/** Whether an address is on the public internet. */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv6) {
    const inner = embeddedV4(address);
    if (inner) return isPublicAddress(inner.toString());
  }
  return address.range() === 'unicast' && !METADATA_ADDRESSES.has(address.toString());
}

/**
 * Makes the outbound client. `allowedOrigins` are exact origins that are exempt from the rules: on the
 * embedded default, its own examples on loopback and `ALLOW_LOOPBACK`. It is a live set. Without `keepAlive` each connection serves one
 * request: an idle one is held for as long as its other end asks, up to a limit.
 */
export function createOutboundHttp(
  allowedOrigins: ReadonlySet<string>,
  { keepAlive = true }: { keepAlive?: boolean } = {},
): OutboundHttp {
  // Node reads its root certificates once, which takes 20 ms: now, and not beside requests.
  createSecureContext();
  const connections = {
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
    // Without pipelining undici sends `Connection: close`.
    ...(keepAlive ? {} : { pipelining: 0 }),
  };
  const guarded = new Agent({
    ...connections,
    connect: {
      lookup(hostname: string, options: LookupOptions, callback: (...args: never[]) => void) {
        const done = callback as unknown as (
          error: Error | null,
          addresses: LookupAddress[] | string,
          family?: number,
        ) => void;
        dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
          if (error) return done(error, []);
          const bad = addresses.find(({ address }) => !isPublicAddress(address));
          if (bad) return done(new ForbiddenUrlError(`${hostname} does not lead to a public address`), []);
          const first = addresses[0];
          if (options.all) return done(null, addresses);
          return first
            ? done(null, first.address, first.family)
            : done(new Error(`${hostname} has no address`), []);
        });
      },
    },
  });
  const direct = new Agent(connections);

  const checkUrl = (text: string): void => {
    if (!URL.canParse(text)) throw new ForbiddenUrlError('the URL is malformed');
    const url = new URL(text);
    if (allowedOrigins.has(url.origin)) return;
    if (url.protocol !== 'https:') throw new ForbiddenUrlError('only https URLs are called');
    if (url.username !== '' || url.password !== '')
      throw new ForbiddenUrlError('the URL carries credentials');
    // A literal address is never looked up, so it is judged here.
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (ipaddr.isValid(host) && !isPublicAddress(host)) {
      throw new ForbiddenUrlError('the URL does not lead to a public address');
    }
  };

  return {
    checkUrl,
    fetch: async (input, { onSent, ...init } = {}) => {
      const url = input instanceof Request ? input.url : String(input);
      checkUrl(url);
      const dispatcher = allowedOrigins.has(new URL(url).origin) ? direct : guarded;
      const response = await undiciFetch(url, {
        ...(init as UndiciRequestInit),
        dispatcher: onSent ? notifying(dispatcher, onSent) : dispatcher,
        redirect: 'manual',
      });
      return response as unknown as Response;
    },
    close: async () => {
      await Promise.all([guarded.destroy(), direct.destroy()]);
    },
  };
}

/** A dispatcher that tells when a request goes out: once the connection is open. */
function notifying(dispatcher: Dispatcher, onSent: () => void): Dispatcher {
  const observed = (handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler =>
    new Proxy(handler, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        return (...given: unknown[]): unknown => {
          if (name === 'onRequestStart') onSent();
          return Reflect.apply(member, target, given) as unknown;
        };
      },
    });
  return dispatcher.compose((dispatch) => (options, handler) => dispatch(options, observed(handler)));
}
