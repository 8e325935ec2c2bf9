import * as z from 'zod';
import { readStrangersJson } from '../../../platform/json/json-gate.js';
import { connectionFailure, readText, type OutboundHttp } from '../../../platform/outbound-http.js';
import { AgentUnreachableError } from '../outcome.js';

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
  const read = card.safeParse(await readStrangersJson('client_document', text).catch(() => undefined));
  if (!read.success) throw unreachable("The agent's card is no card of A2A 1.0.", read.error);
  const { origin } = new URL(cardUrl);
  const found = read.data.supportedInterfaces.find(
    ({ url, protocolBinding, protocolVersion }) =>
      protocolBinding === 'JSONRPC' && protocolVersion.startsWith('1.') && new URL(url).origin === origin,
  );
  if (!found) throw unreachable("The agent's card names no JSON-RPC interface of A2A 1.0 at its own origin.");
  return { url: found.url, streams: read.data.capabilities.streaming === true };
}

function unreachable(message: string, cause?: unknown): AgentUnreachableError {
  return new AgentUnreachableError(message, { class: 'endpoint_unreachable' }, { cause });
}
