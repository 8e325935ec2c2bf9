import { takesAnyText, type JsonObject } from '@agent-rental/agent-runner';
import { RUN_FAILURES } from '@agent-rental/contract';
import { schemaViolations } from '../../../platform/json-schema/checks.js';
import {
  ForbiddenUrlError,
  ResponseTooLargeError,
  type OutboundHttp,
} from '../../../platform/outbound-http.js';
import { signedHeaders } from '../../../platform/standard-webhooks.js';
import { traced, traceHeaders } from '../../../platform/tracing/spans.js';
import { signingSecrets, type ConnectedAgent } from '../../../registration/index.js';
import { a2aCall } from './a2a-call.js';
import { isAgentCard, readAgentCard } from './agent-card.js';
import type { AgentCall, ConnectedWork } from './agent-call.js';
import type { AgentContact } from '../contact.js';
import {
  AgentUnreachableError,
  FAILED_FORM,
  FAILED_SIZE,
  FAILED_TASK,
  type AgentOutcome,
  type FailureCause,
} from '../outcome.js';
import { readAnswer, type ConnectedAnswer } from './connected-answer.js';

/** HTTP statuses with which a proxy or host answers for an agent that is down, before the agent accepts the task. */
const NOT_THERE = new Set([404, 410, 502, 503, 504]);
/** An endpoint that has not refused a task within this time counts as having accepted it. */
const ACCEPTED_AFTER_MS = 2_000;

/** `detail` is for the creator. */
const failed = (output: string, detail: string, cause: FailureCause): AgentOutcome => ({
  status: 'failed',
  output,
  detail,
  cause,
});

interface CallOptions {
  signal: AbortSignal;
  /** Called when the task goes out. */
  onBegan?(): void;
  /** Told when the task goes out, and when the endpoint has accepted it. */
  contact: AgentContact;
  /** Gets an answer in free text while it comes, where the endpoint answers as an event stream. */
  onText(text: string): void;
}

/** Calls creators' own endpoints, signed as Standard Webhooks are. */
export interface ConnectedAgents {
  /** @throws AgentUnreachableError when the endpoint did not accept the task. */
  run(task: ConnectedWork, agent: ConnectedAgent, options: CallOptions): Promise<AgentOutcome>;
}

export function createConnectedAgents(
  outbound: Pick<OutboundHttp, 'fetch'>,
  acceptedAfterMs = ACCEPTED_AFTER_MS,
): ConnectedAgents {
  return {
    async run(task, agent, options) {
      const { signal, contact } = options;
      let accepting: NodeJS.Timeout | undefined;
      let response: Response;
      options.onBegan?.();
      const call = isAgentCard(agent.entrypointUrl)
        ? a2aCall(outbound, await readAgentCard(outbound, agent.entrypointUrl, signal), task)
        : webhookCall(agent.entrypointUrl, task);
      try {
        const request = () =>
          outbound.fetch(call.url, {
            method: 'POST',
            headers: {
              ...traceHeaders(),
              ...signedHeaders(task.runId, call.body, signingSecrets(agent, Date.now())),
              ...call.headers,
              accept: 'application/json, text/event-stream',
            },
            body: call.body,
            signal,
            onSent: () => {
              contact.begin();
              accepting = setTimeout(() => contact.reach(), acceptedAfterMs);
            },
          });
        response = await traced('agent.request', { kind: 'client' }, request);
      } catch (cause) {
        signal.throwIfAborted();
        // The connection broke while the agent worked.
        if (contact.isReached) {
          return failed(FAILED_TASK, 'The connection broke while the endpoint worked.', {
            class: 'endpoint_broke_off',
          });
        }
        const reason = cause instanceof ForbiddenUrlError ? cause.message : 'the connection failed';
        throw new AgentUnreachableError(
          `The agent's endpoint could not be reached: ${reason}.`,
          { class: 'endpoint_unreachable' },
          { cause },
        );
      } finally {
        clearTimeout(accepting);
      }
      if (NOT_THERE.has(response.status) && !contact.isReached) {
        await response.body?.cancel();
        throw new AgentUnreachableError(`The agent's endpoint answered ${response.status}.`, {
          class: 'endpoint_refused',
          httpStatus: response.status,
        });
      }
      contact.reach();
      if (!response.ok) {
        await response.body?.cancel();
        return failed(FAILED_TASK, `The endpoint answered ${response.status}.`, {
          class: 'endpoint_refused',
          httpStatus: response.status,
        });
      }
      return outcomeOf(response, call, task, options);
    },
  };
}

/** The call of a task at a creator's webhook. */
function webhookCall(url: string, task: ConnectedWork): AgentCall {
  const body = JSON.stringify({
    run_id: task.runId,
    agent_id: task.listing.id,
    task: task.task,
    ...(task.input === undefined ? {} : { input: task.input }),
    // Names the file; the content is sent as the input, because only the renter can read the file.
    ...(task.inputUri === undefined ? {} : { input_uri: task.inputUri }),
    timeout_seconds: task.timeoutSeconds,
  });
  return { url, body, headers: {}, read: readAnswer };
}

/** Texts for the renter, by the rule that an answer breaks. */
const TOLD: Partial<Record<ConnectedAnswer & string, string>> = {
  task_failed: FAILED_TASK,
  answer_too_large: FAILED_SIZE,
};

/** Converts the answer to the form that the agent declares. */
async function outcomeOf(
  response: Response,
  call: AgentCall,
  task: ConnectedWork,
  options: CallOptions,
): Promise<AgentOutcome> {
  const { outputSchema } = task.listing.version;
  // A structured answer may prove invalid, so none of it is streamed before it is complete.
  const onText = takesAnyText(outputSchema as JsonObject) ? options.onText : () => undefined;
  let answer: ConnectedAnswer;
  try {
    answer = await call.read(response, outputSchema, onText, options.signal);
  } catch (error) {
    options.signal.throwIfAborted();
    if (!(error instanceof ResponseTooLargeError)) {
      return failed(FAILED_TASK, `${RUN_FAILURES.answer_broke_off}.`, { class: 'answer_broke_off' });
    }
    answer = 'answer_too_large';
  }
  if (typeof answer === 'string') {
    const told = TOLD[answer] ?? FAILED_FORM;
    const detail = answer === 'task_failed' ? 'The endpoint reported a failure' : RUN_FAILURES[answer];
    return failed(told, `${detail}.`, { class: answer });
  }
  const [violation] = await schemaViolations(outputSchema, answer.output);
  if (violation === undefined) return { status: 'completed', output: answer.output };
  return failed(
    FAILED_FORM,
    `output_schema: ${violation.path || 'the output'} ${violation.message}`.slice(0, 300),
    { class: 'output_schema' },
  );
}
