import { NOT_IN_FORM, takesAnyText, type JsonObject, type RepositoryFile } from '@agent-rental/agent-runner';
import {
  driveRun,
  evaluateInSandbox,
  RequestRefused,
  SandboxUnavailableError,
  type Sandbox,
  type WarmPool,
} from '@agent-rental/sandbox';
import type { ModelGateway } from '../../model-gateway/index.js';
import { ModelLimitError, ModelUnavailableError } from '../../model-gateway/index.js';
import { schemaViolations } from '../../platform/json-schema/checks.js';
import type { Logger } from '../../platform/logger.js';
import type { DeclarativeAgent } from '../../registration/index.js';
import { AnswerStream } from './answer-stream.js';
import { AgentUnreachableError, FAILED_FORM, FAILED_TASK, type AgentOutcome } from './outcome.js';
import type { Task } from '../pipeline/parse.js';
import { WebRefusal, type WebReader } from './web-reader.js';

/** Model calls that an agent may make for one task. */
const MAX_STEPS = 16;
/** Time for one piece of the model's code. */
const EVALUATION_TIMEOUT_MS = 30_000;

/** What a declarative agent is given to do. */
export type AgentWork = Pick<Task, 'runId' | 'task' | 'input' | 'files'> & {
  listing: { version: Pick<Task['listing']['version'], 'outputSchema'> };
};

/** Runs declarative agents: the loop in a sandbox, the model through the gateway. */
export interface DeclarativeAgents {
  takeSandbox(signal: AbortSignal): Promise<Sandbox>;
  /** Drives one run; the sandbox is gone afterwards. @throws AgentUnreachableError when the model cannot be used. */
  run(
    task: AgentWork,
    agent: DeclarativeAgent,
    sandbox: Sandbox,
    options: {
      signal: AbortSignal;
      logger: Pick<Logger, 'info'>;
      /** Called with the first line of its sandbox; again with later ones. */
      onBegan?(): void;
      onText(text: string): void;
    },
  ): Promise<AgentOutcome>;
}

export function createDeclarativeAgents(deps: {
  runners: WarmPool;
  evaluators: WarmPool;
  /** Absent where the sandbox does not run Python; registration then refuses agents that want it. */
  pythonEvaluators?: WarmPool;
  gateway: ModelGateway;
  web: WebReader;
}): DeclarativeAgents {
  return {
    takeSandbox: (signal) => deps.runners.take({ signal }),

    async run(task, agent, sandbox, { signal, logger, onBegan, onText }) {
      const { outputSchema } = task.listing.version;
      // Where an answer may have to be repaired, nothing of it leaves before it is whole.
      const answer = takesAnyText(outputSchema as JsonObject) ? new AnswerStream(onText) : undefined;
      const { input, files } = inputOf(task, agent);
      const model = deps.gateway.open(agent);
      try {
        const outcome = await driveRun({
          sandbox,
          signal,
          run: {
            runId: task.runId,
            task: task.task,
            ...(input === undefined ? {} : { input }),
            ...(files === undefined ? {} : { files }),
            tools: agent.tools,
            outputSchema: outputSchema as JsonObject,
            maxSteps: MAX_STEPS,
          },
          onStep: () => onBegan?.(),
          completeModel: async (request, callSignal) => {
            const mayCallTools = request.tools.length > 0 && request.toolChoice !== 'none';
            const turn = answer?.turn({ mayCallTools });
            try {
              const reply = await model.complete(request, { signal: callSignal, onText: turn?.push });
              turn?.end({ callsTools: reply.toolCalls.length > 0 });
              return reply;
            } catch (error) {
              throw error instanceof ModelLimitError ? new RequestRefused(error.message) : error;
            }
          },
          evaluate: ({ code, language }, callSignal) => {
            const pool = language === 'python' ? deps.pythonEvaluators : deps.evaluators;
            if (!pool) throw new RequestRefused('Python does not run here.');
            const seen = files === undefined ? input : { ...(input as JsonObject), files: asJson(files) };
            return evaluateInSandbox(
              pool,
              { code, task: task.task, ...(seen === undefined ? {} : { input: seen }) },
              { timeoutMs: EVALUATION_TIMEOUT_MS, signal: callSignal },
            );
          },
          fetchPage: async ({ url }, callSignal) => {
            try {
              return await deps.web.read(url, callSignal);
            } catch (error) {
              if (error instanceof WebRefusal) throw new RequestRefused(error.message);
              throw error;
            }
          },
          checkOutput: async (output) => {
            const violations = await schemaViolations(outputSchema, output);
            return {
              valid: violations.length === 0,
              errors: violations.map(({ path, message }) => `${path || 'the output'} ${message}`),
            };
          },
        });
        if (outcome.status === 'completed') {
          if (typeof outcome.output === 'string') answer?.finish(outcome.output);
          return { status: 'completed', output: outcome.output };
        }
        if (outcome.failure.cause !== 'agent') {
          logger.info({ run_id: task.runId, cause: outcome.failure.cause }, 'a run failed');
        }
        // The words of its runner would tell that it has one.
        const told = outcome.output.startsWith(NOT_IN_FORM) ? FAILED_FORM : FAILED_TASK;
        return { status: 'failed', output: told, detail: outcome.output };
      } catch (error) {
        if (error instanceof ModelUnavailableError)
          throw new AgentUnreachableError(error.message, { cause: error.cause });
        if (error instanceof SandboxUnavailableError) throw error;
        throw error;
      }
    },
  };
}

/**
 * The input as this agent gets it. An archive comes as its files to an agent that reads repositories, and then
 * without its bytes.
 */
function inputOf(
  task: AgentWork,
  agent: DeclarativeAgent,
): { input: Task['input']; files?: RepositoryFile[] } {
  const { input, files } = task;
  const readsFiles = agent.tools.some(({ scope }) => scope === 'repo_scoped');
  if (files === undefined || !readsFiles || typeof input !== 'object') return { input };
  const { base64: _, ...about } = input;
  return { input: about, files: [...files] };
}

/** The files as code sees them: `text` is null where the content is not text. */
function asJson(files: readonly RepositoryFile[]): JsonObject[] {
  return files.map(({ path, size_bytes, text }) => ({ path, size_bytes, text: text ?? null }));
}
