import { LRUCache } from 'lru-cache';
import { createDeadline } from '@agent-rental/contract';
import {
  ForbiddenUrlError,
  readText,
  ResponseTooLargeError,
  type OutboundHttp,
} from '../../platform/outbound-http.js';
import { JsonTextError, readStrangersJson } from '../../platform/json/json-gate.js';
import { clientAddress } from '../../rate-limits/client-address.js';
import { readClientMetadata, type ClientMetadata } from './client-metadata.js';
import { OAuthError } from './oauth-error.js';

const MOST_URL_CHARACTERS = 500;
/** The draft's own bound is 5 KB. */
const MOST_BYTES = 10_000;
const DEADLINE_MS = 5_000;
const CACHED = { most: 500, goodMs: 10 * 60_000, badMs: 30_000 };
/**
 * Documents that are fetched at the same time: in all, of one host, and for callers at one address. A further one is asked to come
 * again. So the slow servers of one stranger leave room for all others.
 */
const MOST_AT_ONCE = { all: 128, host: 4, address: 4 };

/** Reads metadata documents of clients whose id is the document's address. */
export interface ClientDocuments {
  /** Whether a client id has the form of an address. */
  isAddress(id: string): boolean;
  /**
   * Fetches the document, or gives the one of the last minutes.
   *
   * @param address the caller's, by which fetches are bounded
   * @throws OAuthError `invalid_client` naming the fault of address or document, `temporarily_unavailable`
   */
  read(id: string, address: string): Promise<ClientMetadata>;
}

/**
 * Makes the reader (draft-ietf-oauth-client-id-metadata-document). Addresses come from strangers, so the guarded client
 * calls them. It reaches no private network, follows no redirect, and bounds time and bytes.
 */
export function createClientDocuments(outbound: Pick<OutboundHttp, 'fetch'>): ClientDocuments {
  const cache = new LRUCache<string, Promise<ClientMetadata>>({ max: CACHED.most });
  const working = new Map<string, number>();

  const fetchDocument = async (id: string): Promise<ClientMetadata> => {
    const deadline = createDeadline(DEADLINE_MS);
    try {
      const response = await outbound.fetch(id, {
        headers: { accept: 'application/json' },
        signal: deadline.signal,
      });
      const type = response.headers.get('content-type') ?? '';
      if (response.status !== 200 || !/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) {
        await response.body?.cancel();
        throw invalid(
          `it answers ${response.status} ${type === '' ? 'without a type' : 'and not with JSON'}`,
        );
      }
      return documentOf(id, await readStrangersJson('client_document', await readText(response, MOST_BYTES)));
    } catch (error) {
      if (error instanceof OAuthError) throw error;
      if (error instanceof JsonTextError) throw invalid(`it ${error.message}`);
      if (error instanceof ForbiddenUrlError) throw invalid(error.message);
      if (error instanceof ResponseTooLargeError) throw invalid(`it is larger than ${MOST_BYTES} bytes`);
      throw invalid('it could not be fetched');
    } finally {
      deadline.clear();
    }
  };

  return {
    isAddress: (id) => id.startsWith('https:'),
    async read(id, address) {
      const problem = addressProblem(id);
      if (problem !== undefined) throw invalid(problem);
      const known = cache.get(id);
      if (known) return known;
      const shares = [
        ['', MOST_AT_ONCE.all],
        [`host ${new URL(id).hostname.replace(/\.$/, '')}`, MOST_AT_ONCE.host],
        [`address ${clientAddress(address)}`, MOST_AT_ONCE.address],
      ] as const;
      if (shares.some(([share, most]) => (working.get(share) ?? 0) >= most)) {
        throw new OAuthError(
          'temporarily_unavailable',
          'Too many client documents are being read. Try again.',
        );
      }
      const count = (by: 1 | -1) => {
        for (const [share] of shares) {
          const now = (working.get(share) ?? 0) + by;
          if (now > 0) working.set(share, now);
          else working.delete(share);
        }
      };
      count(1);
      const reading = fetchDocument(id).finally(() => count(-1));
      cache.set(id, reading, { ttl: CACHED.goodMs });
      reading.catch(() => cache.set(id, reading, { ttl: CACHED.badMs }));
      return reading;
    },
  };
}

/** The fault in the address of a document; undefined without one. */
function addressProblem(id: string): string | undefined {
  if (id.length > MOST_URL_CHARACTERS) return `it is longer than ${MOST_URL_CHARACTERS} characters`;
  if (!/^[\x21-\x7e]+$/.test(id) || !URL.canParse(id)) return 'it is not a URL';
  const url = new URL(id);
  if (url.href !== id) return 'it is not written in the normal form of URLs';
  if (url.pathname === '/') return 'it has no path';
  if (url.hash !== '' || url.username !== '' || url.password !== '') {
    return 'it has a fragment or carries credentials';
  }
  return undefined;
}

function documentOf(id: string, value: unknown): ClientMetadata {
  if ((value as { client_id?: unknown } | null)?.client_id !== id)
    throw invalid('it names another client_id');
  let read: ReturnType<typeof readClientMetadata>;
  try {
    read = readClientMetadata(value);
  } catch (error) {
    throw error instanceof OAuthError ? invalid(error.message) : error;
  }
  const method = read.raw.token_endpoint_auth_method;
  if (method != null && method !== 'none') {
    throw invalid(
      `it wants the authentication ${method.slice(0, 40)}, and the service has public clients alone (none)`,
    );
  }
  return read.client;
}

function invalid(why: string): OAuthError {
  return new OAuthError('invalid_client', `The client's metadata document cannot be used: ${why}.`);
}
