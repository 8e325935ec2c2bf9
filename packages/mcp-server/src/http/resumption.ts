import { createHash, randomUUID } from 'node:crypto';
import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import type { TokenSigner } from '../sessions/signed-token.js';

/** Header with which a client asks for the rest of a broken stream. */
export const LAST_EVENT_HEADER = 'last-event-id';

/** Milliseconds until a client comes back after its stream broke. */
export const RETRY_MS = 500;

const PURPOSE = 'mcp-call';
/** Longest id of an event; clients send it back in a header, and most proxies allow 8 KB of headers. */
const MAX_LENGTH = 6_000;

/** Longest call of which an id is made, in characters of JSON. Compressing a longer one takes too long, and is seldom enough. */
const MAX_CALL_LENGTH = 32_000;

/** A tool call that every replica can resume. */
export interface ResumableCall {
  /** Names the call, so that its payment or `new_run` happens once. */
  readonly key: string;
  readonly request: JSONRPCRequest;
  /** Absent in the stateless era, and for clients without a session. */
  readonly sessionId?: string | undefined;
}

/**
 * Ids of stream events. An id is the signed call itself. After a broken stream, a client sends the id to any replica. It gets
 * the answer of the call's run and does not pay again. The server keeps no state for this.
 */
export class Resumption {
  readonly #signer: TokenSigner;

  constructor(signer: TokenSigner) {
    this.#signer = signer;
  }

  /** The events' ids for a call; undefined for a call that is too long. */
  eventIds(callerId: string, call: ResumableCall): (() => string) | undefined {
    if (JSON.stringify(call.request).length > MAX_CALL_LENGTH) return undefined;
    const token = this.#signer.write(PURPOSE, { ...call, caller: digest(callerId) });
    if (token.length > MAX_LENGTH) return undefined;
    const stream = randomUUID().slice(0, 8);
    let count = 0;
    return () => {
      count += 1;
      return `${token}~${stream}~${count}`;
    };
  }

  /** The call of an event's id; undefined for an id of another caller. */
  read(callerId: string, eventId: string): ResumableCall | undefined {
    const [token = ''] = eventId.split('~');
    const call = this.#signer.read(PURPOSE, token) as (ResumableCall & { caller: string }) | undefined;
    return call?.caller === digest(callerId) ? call : undefined;
  }
}

/** A name for a call. */
export function newCallKey(): string {
  return `mcp-${randomUUID()}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
