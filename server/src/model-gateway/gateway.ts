import {
  isRunnerTool,
  runnerTools,
  type ModelCompleteParams,
  type ModelCompleteResult,
} from '@agent-rental/agent-runner';
import type * as AiSdk from 'ai';
import type { LanguageModel, ToolSet } from 'ai';
import type { OutboundHttp } from '../platform/outbound-http.js';
import type { DeclarativeAgent } from '../registration/index.js';
import { ForeignKeyError, languageModel } from './language-model.js';
import { toFinishReason, toModelMessages } from './messages.js';
import {
  DEFAULT_MODEL_LIMITS,
  ModelLimitError,
  ModelMeter,
  type ModelLimits,
  type ModelUsage,
} from './spending-meter.js';

const RETRIES = 2;
/** Parts of a stream that a model makes; others are made by the SDK, or tell of an error. */
const ANSWER_PARTS: ReadonlySet<string> = new Set([
  'text-delta',
  'reasoning-delta',
  'tool-input-start',
  'tool-call',
]);

/** The agent's model cannot be used: its vendor is down, or its key is dead. Not the agent's failure. */
export class ModelUnavailableError extends Error {
  override readonly name = 'ModelUnavailableError';
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
   * One completion. The system prompt and the key are added here; the caller passes on what the runner asked.
   *
   * `onAnswer` is called once, when the model begins to answer: from there on it has worked, and costs its owner.
   *
   * @throws ModelUnavailableError; ModelLimitError when the run has used up what it may; the signal's reason when
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
  return {
    get usage() {
      return meter.usage;
    },
    async complete(request, { signal, onText, onAnswer }) {
      meter.beginCall();
      const { jsonSchema, streamText, tool } = await loadAiSdk();
      const tools: ToolSet = {};
      for (const name of request.tools) {
        if (!isRunnerTool(name)) continue;
        const { description, parameters } = runnerTools[name];
        tools[name] = tool({ description, inputSchema: jsonSchema(parameters) });
      }
      const stream = streamText({
        model: await modelOf(agent, meter.metered(fetch)),
        system: agent.systemPrompt,
        messages: toModelMessages(request.messages),
        tools,
        toolChoice: request.toolChoice,
        maxRetries: RETRIES,
        abortSignal: signal,
        // Errors come out of the stream below; the SDK would print them, prompt included.
        onError: () => undefined,
      });
      const result: ModelCompleteResult = { content: null, toolCalls: [], finishReason: 'other' };
      try {
        let isAnswered = false;
        for await (const part of stream.fullStream) {
          if (!isAnswered && ANSWER_PARTS.has(part.type)) {
            isAnswered = true;
            onAnswer?.();
          }
          if (part.type === 'text-delta') {
            result.content = (result.content ?? '') + part.text;
            onText?.(part.text);
          } else if (part.type === 'tool-call') {
            const input: unknown = part.input;
            const text = typeof input === 'string' ? input : JSON.stringify(input ?? {});
            result.toolCalls.push({ id: part.toolCallId, name: part.toolName, arguments: text });
          } else if (part.type === 'finish') {
            if (part.rawFinishReason === undefined) throw new IncompleteAnswerError();
            onAnswer?.();
            result.finishReason = toFinishReason(part.finishReason);
            meter.countTokens(part.totalUsage.inputTokens, part.totalUsage.outputTokens);
          } else if (part.type === 'error') {
            throw part.error;
          }
        }
      } catch (cause) {
        signal.throwIfAborted();
        const limit = limitIn(cause);
        if (limit) throw limit;
        throw new ModelUnavailableError(`The model of the agent could not be used: ${reasonOf(cause)}.`);
      }
      signal.throwIfAborted();
      return result;
    },
  };
}

/** @throws ModelUnavailableError where the agent's key was given for another address than its model's. */
async function modelOf(agent: DeclarativeAgent, fetch: typeof globalThis.fetch): Promise<LanguageModel> {
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

/** The limit that an error comes of: the SDK wraps what broke its request. */
function limitIn(cause: unknown): ModelLimitError | undefined {
  for (let error = cause, depth = 0; error instanceof Error && depth < 5; depth += 1) {
    if (error instanceof ModelLimitError) return error;
    error = (error as { lastError?: unknown }).lastError ?? error.cause;
  }
  return undefined;
}

/**
 * What went wrong, in words of ours: errors of vendors repeat what they were sent, key and prompt included, and
 * this one is logged.
 */
function reasonOf(cause: unknown): string {
  for (let error = cause, depth = 0; error instanceof Error && depth < 5; depth += 1) {
    const { statusCode, code, lastError } = error as {
      statusCode?: unknown;
      code?: unknown;
      lastError?: unknown;
    };
    if (typeof statusCode === 'number') return `it answered ${statusCode}`;
    if (typeof code === 'string' && /^[A-Z_]{3,40}$/.test(code)) return code;
    error = lastError ?? error.cause;
  }
  return cause instanceof Error ? cause.name : 'no reason';
}

let loading: Promise<typeof AiSdk> | undefined;

/** Loads the AI SDK once; it takes long enough to be kept out of the start. */
function loadAiSdk(): Promise<typeof AiSdk> {
  // It prints a banner to stdout otherwise.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  loading ??= import('ai');
  return loading;
}
