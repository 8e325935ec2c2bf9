import type {
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3FunctionTool,
} from '@ai-sdk/provider';
import {
  isRunnerTool,
  runnerTools,
  type ModelCompleteParams,
  type ModelCompleteResult,
} from '@agent-rental/agent-runner';
import type { OutboundHttp } from '../platform/outbound-http.js';
import type { DeclarativeAgent } from '../registration/index.js';
import { ForeignKeyError, languageModel } from './language-model.js';
import { toFinishReason, toPrompt } from './messages.js';
import {
  DEFAULT_MODEL_LIMITS,
  ModelLimitError,
  ModelMeter,
  type ModelLimits,
  type ModelUsage,
} from './spending-meter.js';
import { withRetries } from './vendor-retries.js';

/** The agent's model cannot be used: its vendor is down, or its key is dead. Not the agent's failure. */
export class ModelUnavailableError extends Error {
  override readonly name = 'ModelUnavailableError';
  /** The status of the vendor's answer, if it answered. */
  readonly httpStatus: number | undefined;

  constructor(message: string, httpStatus?: number) {
    super(message);
    this.httpStatus = httpStatus;
  }
}

/** Calls models for agents that run in sandboxes; the only code that holds vendor keys and system prompts. */
export interface ModelGateway {
  /** The model of one run of an agent. */
  open(agent: DeclarativeAgent): ModelSession;
}

/** One run's use of its model, up to the run's limits. */
export interface ModelSession {
  readonly usage: ModelUsage;
  /**
   * One completion. The gateway adds the system prompt and the key; the caller passes on the runner's request.
   *
   * Calls `onAnswer` once, when the model starts to answer: from then on it costs its owner.
   *
   * @throws ModelUnavailableError; ModelLimitError when the run has used up its limits; the signal's reason when
   * aborted.
   */
  complete(
    request: ModelCompleteParams,
    options: {
      signal: AbortSignal;
      onText?: ((text: string) => void) | undefined;
      onAnswer?: (() => void) | undefined;
    },
  ): Promise<ModelCompleteResult>;
}

export function createModelGateway(
  outbound: Pick<OutboundHttp, 'fetch'>,
  limits: Partial<ModelLimits> = {},
): ModelGateway {
  return { open: (agent) => openSession(agent, outbound.fetch, { ...DEFAULT_MODEL_LIMITS, ...limits }) };
}

function openSession(
  agent: DeclarativeAgent,
  fetch: typeof globalThis.fetch,
  limits: ModelLimits,
): ModelSession {
  const meter = new ModelMeter(limits);
  let opened: Promise<LanguageModelV3> | undefined;
  return {
    get usage() {
      return meter.usage;
    },
    async complete(request, { signal, onText, onAnswer }) {
      meter.beginCall();
      const result: ModelCompleteResult = { content: null, toolCalls: [], finishReason: 'other' };
      try {
        const model = await (opened ??= modelOf(agent, meter.metered(fetch)));
        const options = { ...callOptions(agent.systemPrompt, request), abortSignal: signal };
        const { stream } = await withRetries(() => model.doStream(options), signal);
        let isAnswered = false;
        let isComplete = false;
        const answers = (): void => {
          if (!isAnswered) onAnswer?.();
          isAnswered = true;
        };
        for await (const part of stream) {
          switch (part.type) {
            case 'text-delta':
              if (part.delta === '') break;
              answers();
              result.content = (result.content ?? '') + part.delta;
              onText?.(part.delta);
              break;
            case 'reasoning-delta':
              if (part.delta !== '') answers();
              break;
            case 'tool-input-start':
              answers();
              break;
            case 'tool-call':
              answers();
              result.toolCalls.push({
                id: part.toolCallId,
                name: part.toolName,
                arguments: part.input.trim() === '' ? '{}' : part.input,
              });
              break;
            case 'finish':
              if (part.finishReason.raw === undefined) throw new IncompleteAnswerError();
              isComplete = true;
              answers();
              result.finishReason = toFinishReason(part.finishReason.unified);
              meter.countTokens(part.usage.inputTokens.total, part.usage.outputTokens.total);
              break;
            case 'error':
              throw part.error;
            default:
          }
        }
        if (!isComplete) throw new IncompleteAnswerError();
      } catch (cause) {
        signal.throwIfAborted();
        const limit = limitIn(cause);
        if (limit) throw limit;
        if (cause instanceof ModelUnavailableError) throw cause;
        const { reason, httpStatus } = reasonOf(cause);
        throw new ModelUnavailableError(`The model of the agent could not be used: ${reason}.`, httpStatus);
      }
      signal.throwIfAborted();
      return result;
    },
  };
}

/** The options of a call to a vendor's model. */
function callOptions(
  systemPrompt: string,
  { messages, tools, toolChoice }: ModelCompleteParams,
): LanguageModelV3CallOptions {
  const offered = tools.filter(isRunnerTool).map((name): LanguageModelV3FunctionTool => {
    const { description, parameters } = runnerTools[name];
    return { type: 'function', name, description, inputSchema: parameters };
  });
  return {
    prompt: toPrompt(systemPrompt, messages),
    ...(offered.length > 0 ? { tools: offered, toolChoice: { type: toolChoice } } : {}),
  };
}

/** @throws ModelUnavailableError where the agent's key was given for another address than its model's. */
async function modelOf(agent: DeclarativeAgent, fetch: typeof globalThis.fetch): Promise<LanguageModelV3> {
  try {
    return await languageModel(agent.model, fetch);
  } catch (error) {
    if (!(error instanceof ForeignKeyError)) throw error;
    throw new ModelUnavailableError(
      'The model of the agent could not be used: its key was given for another provider or address.',
    );
  }
}

/** A stream ended without its final event: the connection was cut, and half an answer is none. */
class IncompleteAnswerError extends Error {
  override readonly name = 'IncompleteAnswerError';
}

/** The limit that caused an error: the vendors' packages wrap the cause. */
function limitIn(cause: unknown): ModelLimitError | undefined {
  for (let error = cause, depth = 0; error instanceof Error && depth < 5; depth += 1) {
    if (error instanceof ModelLimitError) return error;
    error = (error as { lastError?: unknown }).lastError ?? error.cause;
  }
  return undefined;
}

/**
 * The failure in our own words, for the log: errors of vendors repeat the request, key and prompt included.
 */
function reasonOf(cause: unknown): { reason: string; httpStatus?: number } {
  for (let error = cause, depth = 0; error instanceof Error && depth < 5; depth += 1) {
    const { statusCode, code, lastError } = error as {
      statusCode?: unknown;
      code?: unknown;
      lastError?: unknown;
    };
    if (typeof statusCode === 'number') {
      return { reason: `it answered ${statusCode}`, httpStatus: statusCode };
    }
    if (typeof code === 'string' && /^[A-Z_]{3,40}$/.test(code)) return { reason: code };
    error = lastError ?? error.cause;
  }
  return { reason: cause instanceof Error ? cause.name : 'no reason' };
}
