import type { JsonObject } from '@agent-rental/agent-runner';
import {
  driveRun,
  evaluateInSandbox,
  SandboxUnavailableError,
  type Sandbox,
  type WarmPool,
} from '@agent-rental/sandbox';
import type { ModelGateway } from '../model-gateway/index.js';
import { ModelUnavailableError } from '../model-gateway/index.js';
import { schemaViolations } from '../platform/json-schema.js';
import type { Logger } from '../platform/logger.js';
import type { DeclarativeAgent } from '../registration/index.js';
import { AgentUnreachableError, type AgentOutcome } from './agent-outcome.js';
import type { Task } from './parse.js';

/** Model calls that an agent may make for one task. */
const MAX_STEPS = 16;
/** Time for one piece of the model's code. */
const EVALUATION_TIMEOUT_MS = 30_000;

/** Runs declarative agents: the loop in a sandbox, the model through the gateway. */
export interface DeclarativeAgents {
  takeSandbox(signal: AbortSignal): Promise<Sandbox>;
  /** Drives one run; the sandbox is gone afterwards. @throws AgentUnreachableError when the model cannot be used. */
  run(
    task: Task,
    agent: DeclarativeAgent,
    sandbox: Sandbox,
    options: { signal: AbortSignal; logger: Pick<Logger, 'info'>; onText(text: string): void },
  ): Promise<AgentOutcome>;
}

export function createDeclarativeAgents(deps: {
  runners: WarmPool;
  evaluators: WarmPool;
  gateway: ModelGateway;
}): DeclarativeAgents {
  return {
    takeSandbox: (signal) => deps.runners.take({ signal }),

    async run(task, agent, sandbox, { signal, logger, onText }) {
      const { outputSchema } = task.listing.version;
      const asText = outputSchema['type'] === 'string';
      const input = task.input;
      try {
        const outcome = await driveRun({
          sandbox,
          signal,
          run: {
            runId: task.runId,
            task: task.task,
            ...(input === undefined ? {} : { input: input }),
            tools: agent.tools,
            outputSchema: outputSchema as JsonObject,
            maxSteps: MAX_STEPS,
          },
          completeModel: (request, callSignal) => {
            // Text beside tool calls is the agent thinking aloud; only where no tool can be called is the
            // model's text certainly the answer, and can be streamed as it is made.
            const final = asText && (request.tools.length === 0 || request.toolChoice === 'none');
            return deps.gateway.complete(agent, request, {
              signal: callSignal,
              onText: final ? onText : undefined,
            });
          },
          evaluate: ({ code }, callSignal) =>
            evaluateInSandbox(
              deps.evaluators,
              {
                code,
                task: task.task,
                ...(input === undefined ? {} : { input: input }),
              },
              { timeoutMs: EVALUATION_TIMEOUT_MS, signal: callSignal },
            ),
          checkOutput: (output) => {
            const violations = schemaViolations(outputSchema, output);
            return {
              valid: violations.length === 0,
              errors: violations.map(({ path, message }) => `${path || 'the output'} ${message}`),
            };
          },
        });
        if (outcome.status === 'completed') return { status: 'completed', output: outcome.output };
        if (outcome.failure.cause !== 'agent') {
          logger.info({ run_id: task.runId, cause: outcome.failure.cause }, 'a run failed');
        }
        return { status: 'failed', output: outcome.output };
      } catch (error) {
        if (error instanceof ModelUnavailableError)
          throw new AgentUnreachableError(error.message, { cause: error.cause });
        if (error instanceof SandboxUnavailableError) throw error;
        throw error;
      }
    },
  };
}
