import { randomUUID } from 'node:crypto';
import { ModelUnavailableError, type ModelGateway } from '../../model-gateway/index.js';
import { createDeadline } from '@agent-rental/contract';
import { connectionFailure, readText, type OutboundHttp } from '../../platform/outbound-http.js';
import { signedHeaders } from '../../platform/standard-webhooks.js';
import {
  signingSecrets,
  type AgentProbe,
  type ConnectedAgent,
  type DeclarativeAgent,
  type ProbeOutcome,
} from '../../registration/index.js';
import { isAgentCard, readAgentCard } from './connected/agent-card.js';
import { AgentUnreachableError } from './outcome.js';
import { failureOf, modelRefusal } from './probe-failure.js';

/** Some models take seconds to their first word; a vendor that is busy is asked again after two and four. */
const PROBE_MS = 12_000;
/** More than an answer to a handshake has. */
const MAX_ANSWER_BYTES = 16 * 1024;
/** In place of the agent's prompt, which is long and costs its creator. */
const PROMPT = 'Answer with one word.';
const QUESTION = 'Are you there?';

/**
 * Makes the probe. A connected agent gets a handshake at its entrypoint, signed like its tasks. A declarative agent's
 * model gets a short question, and its answer is cut off at the first word. `stopping` ends probes, to be made again.
 */
export function createAgentProbe(
  { outbound, gateway }: { outbound: Pick<OutboundHttp, 'fetch'>; gateway: ModelGateway },
  { stopping, timeoutMs = PROBE_MS }: { stopping: AbortSignal; timeoutMs?: number },
): AgentProbe {
  return async (agent, listingId) => {
    stopping.throwIfAborted();
    const deadline = createDeadline(timeoutMs, stopping);
    const { signal } = deadline;
    try {
      if (agent.mode === 'declarative') return await askModel(gateway, agent, signal);
      return isAgentCard(agent.entrypointUrl)
        ? await lookAtCard(outbound, agent, signal)
        : await handshake(outbound.fetch, agent, listingId, signal);
    } catch (error) {
      stopping.throwIfAborted();
      if (!signal.aborted) throw error;
      return { reason: 'timed_out', detail: `nothing came within ${timeoutMs / 1000} s` };
    } finally {
      deadline.clear();
    }
  };
}

/** Reads the card of an A2A agent: a message would be a task. */
async function lookAtCard(
  outbound: Pick<OutboundHttp, 'fetch'>,
  { entrypointUrl }: ConnectedAgent,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  try {
    await readAgentCard(outbound, entrypointUrl, signal);
    return 'reached';
  } catch (error) {
    if (!(error instanceof AgentUnreachableError)) throw error;
    return failureOf(error.failure) ?? { reason: 'endpoint_unreachable', detail: error.message };
  }
}

/** Sends a signed handshake. An endpoint that takes requests is reachable, because only some servers know handshakes. */
async function handshake(
  fetch: OutboundHttp['fetch'],
  agent: ConnectedAgent,
  listingId: string,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const id = randomUUID();
  const body = JSON.stringify({ type: 'handshake', agent_id: listingId, challenge: randomUUID() });
  let response: Response;
  try {
    response = await fetch(agent.entrypointUrl, {
      method: 'POST',
      headers: {
        ...signedHeaders(id, body, signingSecrets(agent, Date.now())),
        accept: 'application/json',
      },
      body,
      signal,
    });
  } catch (cause) {
    signal.throwIfAborted();
    return { reason: 'endpoint_unreachable', detail: connectionFailure(cause) };
  }
  // Read up to a bound, so that the connection can serve another request. The text does not matter.
  await readText(response, MAX_ANSWER_BYTES).catch(() => undefined);
  signal.throwIfAborted();
  return failureOf({ class: 'endpoint_refused', httpStatus: response.status }) ?? 'reached';
}

/** Asks the model one short question, and leaves at the first word of its answer. */
async function askModel(
  gateway: ModelGateway,
  agent: DeclarativeAgent,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const leaving = new AbortController();
  let isAnswered = false;
  const onAbort = () => leaving.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  const session = gateway.open({ ...agent, systemPrompt: PROMPT, tools: [] });
  try {
    signal.throwIfAborted();
    await session.complete(
      { messages: [{ role: 'user', content: QUESTION }], tools: [], toolChoice: 'none' },
      {
        signal: leaving.signal,
        onAnswer: () => {
          isAnswered = true;
          leaving.abort();
        },
      },
    );
    return 'reached';
  } catch (error) {
    if (isAnswered) return 'reached';
    signal.throwIfAborted();
    if (!(error instanceof ModelUnavailableError)) throw error;
    const { httpStatus } = error;
    return httpStatus === undefined
      ? { reason: 'model_unreachable' }
      : { reason: modelRefusal(httpStatus), httpStatus };
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
