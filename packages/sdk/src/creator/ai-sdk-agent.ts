import type { Json } from '@agent-rental/contract';
import { taskPrompt, type AgentFunction, type AgentTask } from './agent-task.js';

/** The used part of an AI SDK agent (versions 6 and 7), for instance of a `ToolLoopAgent`. */
export interface AiSdkAgent {
  stream(options: {
    prompt: string;
    abortSignal?: AbortSignal;
  }): PromiseLike<{ readonly textStream: AsyncIterable<string>; readonly output: PromiseLike<unknown> }>;
}

/** Options for tasks that go to a framework's agent. */
export interface FrameworkAgentOptions {
  /** The user's message. Default: the task, then the input between `<input>` tags. */
  prompt?: (task: AgentTask) => string;
}

/**
 * Makes the function of a connected agent from an AI SDK agent. Its text is streamed. Its structured output
 * (`output: Output.object(...)`) becomes the run's output. A cancelled run aborts its calls.
 */
export function aiSdkAgent(
  agent: AiSdkAgent,
  { prompt = taskPrompt }: FrameworkAgentOptions = {},
): AgentFunction {
  return async function* (task, { signal }) {
    const result = await agent.stream({ prompt: prompt(task), abortSignal: signal });
    for await (const piece of result.textStream) yield piece;
    // After a failed model call the stream ends without an error; the output then throws it.
    const output = await result.output;
    signal.throwIfAborted();
    // The text was already sent.
    return typeof output === 'string' ? undefined : (output as Json);
  };
}
