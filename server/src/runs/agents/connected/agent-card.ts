import { AgentCard } from '@a2a-js/sdk';
import { isLegacyAgentCard, parseLegacyAgentCard } from '@a2a-js/sdk/compat/v0_3/client';
import * as z from 'zod';
import { readStrangersJson } from '../../../platform/json/json-gate.js';
import { connectionFailure, readText, type OutboundHttp } from '../../../platform/outbound-http.js';
import { AgentUnreachableError } from '../outcome.js';
import { versionOf, type A2aVersion } from './a2a-version.js';

const MAX_CARD_BYTES = 256 * 1024;

const card = z.object({
  supportedInterfaces: z.array(
    z.object({ url: z.url(), protocolBinding: z.string(), protocolVersion: z.string() }),
  ),
  capabilities: z.object({ streaming: z.boolean().optional() }).default({}),
});

/** Where an A2A agent takes messages. */
export interface A2aEndpoint {
  url: string;
  version: A2aVersion;
  streams: boolean;
}

/** Whether an entrypoint is the card of an A2A agent: its path ends as such cards do. */
export function isAgentCard(entrypointUrl: string): boolean {
  return new URL(entrypointUrl).pathname.endsWith('/agent-card.json');
}

/**
 * Reads a card. Its endpoint has to be at the origin of the card, because the wallet has confirmed that one for renters' data.
 *
 * @throws AgentUnreachableError without a card, and for one without such an endpoint. The signal's reason.
 */
export async function readAgentCard(
  outbound: Pick<OutboundHttp, 'fetch'>,
  cardUrl: string,
  signal: AbortSignal,
): Promise<A2aEndpoint> {
  const headers = { 'a2a-version': '1.0', accept: 'application/json' };
  let text: string;
  try {
    const response = await outbound.fetch(cardUrl, { headers, signal });
    if (!response.ok) {
      await response.body?.cancel();
      const { status: httpStatus } = response;
      throw new AgentUnreachableError(`The address of the agent's card answered ${httpStatus}.`, {
        class: 'endpoint_refused',
        httpStatus,
      });
    }
    text = await readText(response, MAX_CARD_BYTES);
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof AgentUnreachableError) throw cause;
    throw unreachable(`The agent's card could not be read: ${connectionFailure(cause)}.`, cause);
  }
  const json = await readStrangersJson('client_document', text).catch(() => undefined);
  const read = card.safeParse(currentForm(json));
  if (!read.success) throw unreachable("The agent's card is no card of A2A 1.0 or 0.3.", read.error);
  const { origin } = new URL(cardUrl);
  const found = read.data.supportedInterfaces
    .filter((each) => each.protocolBinding === 'JSONRPC' && new URL(each.url).origin === origin)
    // The newest first.
    .toSorted((one, other) => Number.parseInt(other.protocolVersion) - Number.parseInt(one.protocolVersion))
    .flatMap(({ url, protocolVersion }) => {
      const version = versionOf(protocolVersion);
      return version ? [{ url, version }] : [];
    })[0];
  if (!found)
    throw unreachable("The agent's card names no JSON-RPC interface of A2A 1.0 or 0.3 at its own origin.");
  return { ...found, streams: read.data.capabilities.streaming === true };
}

/** A card of 0.3 in the form of 1.0; others as they are. */
function currentForm(json: unknown): unknown {
  try {
    return isLegacyAgentCard(json) ? AgentCard.toJSON(parseLegacyAgentCard(json)) : json;
  } catch {
    return undefined;
  }
}

function unreachable(message: string, cause?: unknown): AgentUnreachableError {
  return new AgentUnreachableError(message, { class: 'endpoint_unreachable' }, { cause });
}
