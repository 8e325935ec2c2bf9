import type { Json } from '@agent-rental/contract';
import type { AgentFunction, AgentTask } from './agent-task.js';

/** The used part of a client of `@modelcontextprotocol/client`. */
export interface McpToolClient {
  callTool(
    params: { name: string; arguments: Record<string, unknown> },
    options: { signal: AbortSignal; timeout: number },
  ): PromiseLike<{
    readonly content?: readonly { readonly type: string; readonly text?: unknown }[];
    readonly structuredContent?: unknown;
    readonly isError?: boolean | undefined;
  }>;
}

/** Options of {@link mcpToolAgent}. */
export interface McpToolAgentOptions {
  /** The arguments of the tool. Default: the input if it is an object, else none. */
  arguments?: (task: AgentTask) => Record<string, unknown>;
}

/**
 * Makes the function of a connected agent from a tool of an MCP server, whose `inputSchema` and `outputSchema` are the agent's.
 * Its structured content becomes the run's output, else its text. A cancelled run cancels the call.
 *
 * @throws Error for a result that is an error, so that the run fails
 */
export function mcpToolAgent(
  client: McpToolClient,
  name: string,
  { arguments: argumentsOf = inputOf }: McpToolAgentOptions = {},
): AgentFunction {
  return async (task, { signal }) => {
    // The run has its deadline: the client's may be shorter.
    const timeout = task.timeout_seconds * 1_000;
    const result = await client.callTool({ name, arguments: argumentsOf(task) }, { signal, timeout });
    signal.throwIfAborted();
    const texts = (result.content ?? []).flatMap(({ type, text }) =>
      type === 'text' && typeof text === 'string' ? [text] : [],
    );
    if (result.isError === true) throw new Error(texts.join('\n') || `The tool ${name} failed.`);
    return (result.structuredContent as Json | undefined) ?? texts.join('\n');
  };
}

function inputOf({ input }: AgentTask): Record<string, unknown> {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
}
