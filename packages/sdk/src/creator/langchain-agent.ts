import type { Json } from '@agent-rental/contract';
import type { FrameworkAgentOptions } from './ai-sdk-agent.js';
import { taskPrompt, type AgentFunction } from './agent-task.js';

/** The used part of a LangChain agent (`createAgent`), or of another LangGraph graph with `messages`. */
export interface LangChainAgent {
  stream(
    input: { messages: { role: 'user'; content: string }[] },
    options: { signal: AbortSignal; streamMode: ('messages' | 'values')[] },
  ): PromiseLike<AsyncIterable<unknown>>;
}

/** The used part of a message or of a piece of a message. */
interface ReadMessage {
  readonly text?: unknown;
  readonly type?: unknown;
}

/**
 * Makes the function of a connected agent from a LangChain agent. Its text is streamed. Its structured response
 * (`responseFormat`) becomes the run's output. A cancelled run aborts its calls.
 */
export function langChainAgent(
  agent: LangChainAgent,
  { prompt = taskPrompt }: FrameworkAgentOptions = {},
): AgentFunction {
  return async function* (task, { signal }) {
    const events = await agent.stream(
      { messages: [{ role: 'user', content: prompt(task) }] },
      { signal, streamMode: ['messages', 'values'] },
    );
    let state: { messages?: ReadMessage[]; structuredResponse?: unknown } = {};
    let hasText = false;
    for await (const event of events) {
      const [mode, payload] = event as [string, unknown];
      if (mode === 'values') {
        state = payload as typeof state;
        continue;
      }
      const [message] = payload as [ReadMessage];
      if (message.type === 'ai' && typeof message.text === 'string' && message.text !== '') {
        hasText = true;
        yield message.text;
      }
    }
    signal.throwIfAborted();
    if (state.structuredResponse !== undefined) return state.structuredResponse as Json;
    if (hasText) return undefined;
    // The model does not stream.
    const last = state.messages?.at(-1)?.text;
    return typeof last === 'string' ? last : '';
  };
}
