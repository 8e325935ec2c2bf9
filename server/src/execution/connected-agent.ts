import { isShallowEnough } from '@agent-rental/agent-runner';
import type { Json } from '@agent-rental/contract';
import { Webhook } from 'standardwebhooks';
import { schemaViolations } from '../platform/schema-checks.js';
import {
  ForbiddenUrlError,
  readText,
  ResponseTooLargeError,
  type OutboundHttp,
} from '../platform/outbound-http.js';
import { signingSecrets, type ConnectedAgent } from '../registration/index.js';
import { AgentUnreachableError, type AgentOutcome } from './agent-outcome.js';
import type { Task } from './parse.js';

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;
/** Answers of proxies and hosts in front of an agent that is not there. */
const NOT_THERE = new Set([404, 410, 502, 503, 504]);

const failed = (output: string): AgentOutcome => ({ status: 'failed', output });

/** Calls creators' own endpoints, signed as Standard Webhooks are. */
export interface ConnectedAgents {
  /** @throws AgentUnreachableError when the endpoint was never reached. */
  run(task: Task, agent: ConnectedAgent, signal: AbortSignal): Promise<AgentOutcome>;
}

export function createConnectedAgents(outbound: OutboundHttp): ConnectedAgents {
  return {
    async run(task, agent, signal) {
      const body = JSON.stringify({
        run_id: task.runId,
        agent_id: task.listing.id,
        task: task.task,
        ...(task.input === undefined ? {} : { input: task.input }),
        // Which file it was; the content is the input, because the file is the renter's alone.
        ...(task.inputUri === undefined ? {} : { input_uri: task.inputUri }),
        timeout_seconds: task.timeoutSeconds,
      });
      const sentAt = new Date();
      // Standard Webhooks: as many signatures as there are secrets, with a space between.
      const signature = signingSecrets(agent, sentAt.getTime())
        .map((secret) => new Webhook(secret).sign(task.runId, sentAt, body))
        .join(' ');
      let response: Response;
      try {
        response = await outbound.fetch(agent.entrypointUrl, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json',
            'webhook-id': task.runId,
            'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
            'webhook-signature': signature,
          },
          body,
          signal,
        });
      } catch (cause) {
        signal.throwIfAborted();
        const reason = cause instanceof ForbiddenUrlError ? cause.message : 'the connection failed';
        throw new AgentUnreachableError(`The agent's endpoint could not be reached: ${reason}.`, { cause });
      }
      if (NOT_THERE.has(response.status)) {
        await response.body?.cancel();
        throw new AgentUnreachableError(`The agent's endpoint answered ${response.status}.`);
      }
      if (!response.ok) {
        await response.body?.cancel();
        return failed('The agent could not do the task.');
      }
      return outcomeOf(await readAnswer(response, signal), task);
    },
  };
}

/** The body as text; undefined when it is too large or breaks off. */
async function readAnswer(response: Response, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await readText(response, MAX_ANSWER_BYTES);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ResponseTooLargeError) return undefined;
    return undefined;
  }
}

async function outcomeOf(answer: string | undefined, task: Task): Promise<AgentOutcome> {
  const notInForm = failed("The agent's answer does not have the form it declares.");
  if (answer === undefined) return notInForm;
  let output: Json;
  try {
    output = JSON.parse(answer) as Json;
  } catch {
    return notInForm;
  }
  // Deeper than what a sandboxed agent may answer, and than JSON can be written again.
  if (!isShallowEnough(output)) return notInForm;
  const violations = await schemaViolations(task.listing.version.outputSchema, output);
  return violations.length === 0 ? { status: 'completed', output } : notInForm;
}
