import { NOT_IN_FORM, takesAnyText, type JsonObject, type RepositoryFile } from '@agent-rental/agent-runner';
import {
  driveRun,
  type DriveRunOptions,
  evaluateInSandbox,
  RequestRefused,
  type RunOutcome,
  SandboxFaultError,
  SandboxUnavailableError,
  serializeInput,
  type SerializedInput,
  type Sandbox,
  type WarmPool,
} from '@agent-rental/sandbox';
import type { ModelGateway } from '../../model-gateway/index.js';
import { ModelLimitError, ModelUnavailableError } from '../../model-gateway/index.js';
import { schemaViolations } from '../../platform/json-schema/checks.js';
import type { Logger } from '../../platform/logger.js';
import type { DeclarativeAgent } from '../../registration/index.js';
import type { AgentContact } from './contact.js';
import { AnswerStream } from './answer-stream.js';
import {
  AgentUnreachableError,
  FAILED_FORM,
  FAILED_TASK,
  type AgentOutcome,
  type FailureCause,
} from './outcome.js';
import type { Task } from '../task.js';
import { WebRefusal, type WebReader } from './web-reader.js';

/** Model calls that an agent may make for one task. */
const MAX_STEPS = 16;
/** A piece of code has a sandbox within milliseconds. A run that ends after a longer wait ends by the fault of the sandboxes. */
const LONG_WAIT_MS = 1_000;
/** Time for one piece of the model's code. */
const EVALUATION_TIMEOUT_MS = 30_000;

const NO_WEB =
  "No page is read in the review's run of a creator who has not published an agent yet. Work without it.";

/** One task for a declarative agent. */
export type AgentWork = Pick<Task, 'runId' | 'task' | 'input' | 'files'> & {
  listing: { id: string; version: Pick<Task['listing']['version'], 'outputSchema'> };
};

/** Runs declarative agents: the loop in a sandbox, the model through the gateway. */
export interface DeclarativeAgents {
  /**
   * Drives one run; the sandbox is gone afterwards. A sandbox that is lost before the model was called is replaced.
   *
   * @throws AgentUnreachableError when the model cannot be used before it has answered once; SandboxFaultError
   *   when a sandbox failed, and not the agent.
   */
  run(
    task: AgentWork,
    agent: DeclarativeAgent,
    sandbox: Sandbox,
    options: {
      signal: AbortSignal;
      logger: Pick<Logger, 'info'>;
      /** False: pages that the agent asks for are refused. Default true. */
      readsWeb?: boolean;
      /** Called with the first line of its sandbox; again with later ones. */
      onBegan?(): void;
      /** Told when the task goes out to the model and when the model answers. */
      contact: AgentContact;
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
    async run(task, agent, sandbox, { signal, logger, readsWeb = true, onBegan, contact, onText }) {
      const { outputSchema } = task.listing.version;
      // A structured answer may need repair, so none of it is streamed before it is complete.
      const answer = takesAnyText(outputSchema as JsonObject) ? new AnswerStream(onText) : undefined;
      const { input, files } = inputOf(task, agent);
      const code = codeRunner(
        deps,
        task,
        files === undefined ? input : { ...(input as JsonObject), files: asJson(files) },
      );
      const completeModel = modelCalls(deps.gateway.open(agent), answer, contact);
      const drive = (used: Sandbox): Promise<RunOutcome> =>
        driveRun({
          sandbox: used,
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
          completeModel,
          evaluate: code.evaluate,
          fetchPage: pageReader(deps.web, readsWeb),
          checkOutput: (output) => checkOutput(outputSchema, output),
        });
      try {
        let outcome = await drive(sandbox);
        if (isFault(outcome) && !contact.isBegun) {
          const another = deps.runners.take({ signal, owner: task.listing.id });
          outcome = await another.then(drive, (cause: unknown) => {
            throw new SandboxFaultError('a lost sandbox was not replaced', { cause });
          });
        }
        if (outcome.status === 'completed') {
          if (typeof outcome.output === 'string') answer?.finish(outcome.output);
          return { status: 'completed', output: outcome.output };
        }
        if (outcome.failure.cause !== 'agent') {
          logger.info({ run_id: task.runId, cause: outcome.failure.cause }, 'a run failed');
        }
        if (isFault(outcome) || (outcome.failure.cause === 'aborted' && code.waitedMs() > LONG_WAIT_MS)) {
          throw new SandboxFaultError(outcome.failure.detail);
        }
        // The runner's words would reveal that the agent has a runner.
        const told = outcome.output.startsWith(NOT_IN_FORM) ? FAILED_FORM : FAILED_TASK;
        const cause = told === FAILED_FORM ? 'output_schema' : 'task_failed';
        return { status: 'failed', output: told, detail: outcome.output, cause: { class: cause } };
      } catch (error) {
        if (!(error instanceof ModelUnavailableError)) throw error;
        // A vendor may refuse because of the renter's own task, and the vendor was paid for the first answer.
        const cause = modelFailure(error);
        if (contact.isReached) return { status: 'failed', output: FAILED_TASK, detail: error.message, cause };
        throw new AgentUnreachableError(error.message, cause, { cause: error.cause });
      }
    },
  };
}

/** Calls the agent's model, and streams its answer. */
function modelCalls(
  model: ReturnType<ModelGateway['open']>,
  answer: AnswerStream | undefined,
  contact: AgentContact,
): DriveRunOptions['completeModel'] {
  return async (request, signal) => {
    const mayCallTools = request.tools.length > 0 && request.toolChoice !== 'none';
    const turn = answer?.turn({ mayCallTools });
    try {
      contact.begin();
      const reply = await model.complete(request, {
        signal,
        onText: turn?.push,
        onAnswer: () => contact.reach(),
      });
      turn?.end({ callsTools: reply.toolCalls.length > 0 });
      return reply;
    } catch (error) {
      throw error instanceof ModelLimitError ? new RequestRefused(error.message) : error;
    }
  };
}

/** Runs the model's code in evaluators, with the task's input. */
function codeRunner(
  { evaluators, pythonEvaluators }: { evaluators: WarmPool; pythonEvaluators?: WarmPool },
  task: AgentWork,
  input: Task['input'],
) {
  /** Serialized when the first code runs. */
  let serialized: Promise<SerializedInput> | undefined;
  let waitsSince: number | undefined;
  const evaluate: DriveRunOptions['evaluate'] = async ({ code, language }, signal) => {
    const pool = language === 'python' ? pythonEvaluators : evaluators;
    if (!pool) throw new RequestRefused('Python does not run here.');
    if (input !== undefined) serialized ??= serializeInput(input);
    return evaluateInSandbox(
      pool,
      { code, task: task.task, ...(serialized === undefined ? {} : { input: await serialized }) },
      {
        timeoutMs: EVALUATION_TIMEOUT_MS,
        signal,
        owner: task.listing.id,
        onWaiting: (waits) => (waitsSince = waits ? performance.now() : undefined),
      },
    ).catch((error: unknown) => {
      if (!(error instanceof SandboxUnavailableError)) throw error;
      throw new SandboxFaultError('the code got no sandbox', { cause: error });
    });
  };
  return {
    evaluate,
    /** How long the present code has waited for a sandbox. */
    waitedMs: () => (waitsSince === undefined ? 0 : performance.now() - waitsSince),
  };
}

function pageReader(web: WebReader, readsWeb: boolean): NonNullable<DriveRunOptions['fetchPage']> {
  return async ({ url }, signal) => {
    if (!readsWeb) throw new RequestRefused(NO_WEB);
    try {
      return await web.read(url, signal);
    } catch (error) {
      throw error instanceof WebRefusal ? new RequestRefused(error.message) : error;
    }
  };
}

async function checkOutput(
  schema: object,
  output: Parameters<DriveRunOptions['checkOutput']>[0],
): Promise<Awaited<ReturnType<DriveRunOptions['checkOutput']>>> {
  // Most agents answer with any text: no thread is woken to check one.
  if (typeof output === 'string' && takesAnyText(schema as JsonObject)) return { valid: true, errors: [] };
  const violations = await schemaViolations(schema, output);
  return {
    valid: violations.length === 0,
    errors: violations.map(({ path, message }) => `${path || 'the output'} ${message}`),
  };
}

/** Whether a sandbox failed, and not the agent: its program, which is ours, ended or broke the protocol, or its machine did. */
function isFault(outcome: RunOutcome): boolean {
  return outcome.status === 'failed' && ['crash', 'protocol', 'output'].includes(outcome.failure.cause);
}

/** Why the model could not be used, as the agent's creator is told. */
function modelFailure({ httpStatus }: ModelUnavailableError): FailureCause {
  return httpStatus === undefined ? { class: 'model_unreachable' } : { class: 'model_refused', httpStatus };
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
