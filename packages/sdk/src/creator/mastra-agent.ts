import type { Json } from '@agent-rental/contract';
import type { FrameworkAgentOptions } from './ai-sdk-agent.js';
import { taskPrompt, type AgentFunction } from './agent-task.js';

/** The used part of a Mastra agent (version 1). */
export interface MastraAgent {
  stream(
    prompt: string,
    options: { abortSignal: AbortSignal; structuredOutput?: { schema: unknown } },
  ): PromiseLike<{
    readonly textStream: AsyncIterable<string>;
    readonly object: PromiseLike<unknown>;
    readonly error?: unknown;
  }>;
}

/** Options of {@link mastraAgent}. */
export interface MastraAgentOptions extends FrameworkAgentOptions {
  /** Schema of a structured output, for Mastra. Default: the answer is text. */
  outputSchema?: unknown;
}

/**
 * Makes the function of a connected agent from a Mastra agent. Its text is streamed. With `outputSchema` its object becomes
 * the run's output. A cancelled run aborts its calls.
 */
export function mastraAgent(
  agent: MastraAgent,
  { prompt = taskPrompt, outputSchema }: MastraAgentOptions = {},
): AgentFunction {
  return async function* (task, { signal }) {
    const structured = outputSchema === undefined ? {} : { structuredOutput: { schema: outputSchema } };
    const result = await agent.stream(prompt(task), { abortSignal: signal, ...structured });
    for await (const piece of result.textStream) yield piece;
    signal.throwIfAborted();
    // After a failed model call the stream ends without an error.
    if (result.error !== undefined) throw result.error;
    if (outputSchema === undefined) return undefined;
    return (await result.object) as Json;
  };
}
