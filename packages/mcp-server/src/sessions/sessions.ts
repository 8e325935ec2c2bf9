import { createHash, randomUUID } from 'node:crypto';
import type { InitializeRequestParams } from '@modelcontextprotocol/server';
import { APPS_EXTENSION, VIEW_TYPE } from '../apps/apps.js';
import type { TokenSigner } from './signed-token.js';

/** Header that names a session of the eras before 2026-07-28. */
export const SESSION_HEADER = 'mcp-session-id';

const PURPOSE = 'mcp-session';
/** Longest kept name of a client. */
const NAME_LENGTH = 100;
/** Number of remembered ended sessions; the oldest are forgotten first. */
const MAX_ENDED = 10_000;

/** A client's facts from the start of its session. */
export type ClientFacts = Pick<InitializeRequestParams, 'protocolVersion' | 'capabilities' | 'clientInfo'>;

/**
 * Sessions of the eras before 2026-07-28. A session is a signed token with its client's abilities. Every replica accepts it
 * without stored state, also after a restart. No replica answers 404 for a live session, because clients do not recover from
 * it. Only its client ends a session.
 */
export class Sessions {
  readonly #signer: TokenSigner;
  readonly #ended = new Set<string>();

  constructor(signer: TokenSigner) {
    this.#signer = signer;
  }

  /** Makes a session for a client with these abilities. */
  open(callerId: string, { protocolVersion, capabilities, clientInfo }: ClientFacts): string {
    const { elicitation, sampling, roots, extensions } = capabilities;
    const apps = mimeTypesOf(extensions?.[APPS_EXTENSION]);
    return this.#signer.write(PURPOSE, {
      id: randomUUID(),
      caller: digest(callerId),
      protocolVersion: protocolVersion.slice(0, NAME_LENGTH),
      capabilities: {
        ...(elicitation && { elicitation: onlyFlags(elicitation) }),
        ...(sampling && { sampling: onlyFlags(sampling) }),
        ...(roots && { roots: {} }),
        ...(apps && { extensions: { [APPS_EXTENSION]: apps } }),
      },
      clientInfo: {
        name: clientInfo.name.slice(0, NAME_LENGTH),
        version: clientInfo.version.slice(0, NAME_LENGTH),
      },
    });
  }

  /** The abilities of the session's client; undefined if unknown. Such a client is served, too. */
  read(callerId: string, sessionId: string): ClientFacts | undefined {
    const facts = this.#signer.read(PURPOSE, sessionId) as (ClientFacts & { caller: string }) | undefined;
    return facts?.caller === digest(callerId) ? facts : undefined;
  }

  /** Ends a session on this replica. @param key of {@link Sessions.key} */
  end(key: string): void {
    this.#ended.add(key);
    const [oldest] = this.#ended;
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
  }

  isEnded(callerId: string, sessionId: string): boolean {
    return this.#ended.has(this.key(callerId, sessionId));
  }

  /** Id of a session for all replicas. It does not reveal the session or the caller. */
  key(callerId: string, sessionId: string): string {
    return digest(JSON.stringify([callerId, sessionId]));
  }
}

/** The one part of MCP Apps that counts: whether the client shows HTML. */
function mimeTypesOf(apps: unknown): { mimeTypes: string[] } | undefined {
  const { mimeTypes } = Object(apps) as { mimeTypes?: unknown };
  return Array.isArray(mimeTypes) && mimeTypes.includes(VIEW_TYPE) ? { mimeTypes: [VIEW_TYPE] } : undefined;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}

/** A capability's parts without their texts, which are not needed and may be long. */
function onlyFlags(capability: object): Record<string, object> {
  const known = ['form', 'url', 'tools', 'context'];
  return Object.fromEntries(known.filter((name) => name in capability).map((name) => [name, {}]));
}
