import type { Json } from '@agent-rental/contract';
import { taskPrompt, type AgentFunction, type AgentTask } from './agent-task.js';

/** An agent of the AI SDK (6 and 7), for instance a `ToolLoopAgent`, as far as it is used here. */
export interface AiSdkAgent {
  stream(options: {
    prompt: string;
    abortSignal?: AbortSignal;
  }): PromiseLike<{ readonly textStream: AsyncIterable<string>; readonly output: PromiseLike<unknown> }>;
}

/** How a task is put to an agent of a framework. */
export interface FrameworkAgentOptions {
  /** The user's message. Default: the task, and below it the input between `<input>` tags. */
  prompt?: (task: AgentTask) => string;
}

/**
 * Makes the function of a connected agent out of an AI SDK agent: its text streams while it is written, its structured
 * output (`output: Output.object(...)`) is the run's, and a run that is cancelled aborts its calls.
 */
export function aiSdkAgent(
  agent: AiSdkAgent,
  { prompt = taskPrompt }: FrameworkAgentOptions = {},
): AgentFunction {
  return async function* (task, { signal }) {
    const result = await agent.stream({ prompt: prompt(task), abortSignal: signal });
    for await (const piece of result.textStream) yield piece;
    // The stream ends without a word where a call of the model failed; the output then says so.
    const output = await result.output;
    signal.throwIfAborted();
    // Text has left already.
    return typeof output === 'string' ? undefined : (output as Json);
  };
}
