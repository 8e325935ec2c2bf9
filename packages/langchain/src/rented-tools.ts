import type { RentalClient } from '@agent-rental/sdk';
import { modelText, rentedToolset, type RentedTool, type ToolResult } from '@agent-rental/tools';
import { ToolMessage } from '@langchain/core/messages';
import { DynamicStructuredTool, type StructuredTool, type ToolRunnableConfig } from '@langchain/core/tools';

/** Options of {@link rentedTools}. */
export interface RentedToolsOptions {
  /** Names the conversation, where graphs run without a `thread_id`; a tool call in it is paid once. */
  readonly scope?: string | undefined;
  /** Most tools of single agents; the most recent rentals. Default 30. */
  readonly limit?: number | undefined;
}

/**
 * The agents that a client has rented, as LangChain tools, beside those that search and run any agent.
 *
 * Results are text for the model, with the whole {@link ToolResult} as the message's artifact; a call that
 * fails is a message with status `error`. Output that comes early is a tool event of `{delta}`.
 *
 * @throws ApiError or ConnectionError when the rentals cannot be listed.
 */
export async function rentedTools(
  client: RentalClient,
  options: RentedToolsOptions = {},
): Promise<StructuredTool[]> {
  const fallback = crypto.randomUUID();
  const tools = await rentedToolset(client, { limit: options.limit }).list();
  return tools.map((rented) =>
    toStructuredTool(rented, (thread) => [options.scope, thread].filter(Boolean).join('/') || fallback),
  );
}

function toStructuredTool(
  rented: RentedTool,
  scopeOf: (thread: string | undefined) => string,
): StructuredTool {
  const { name, description } = rented;
  const func = async function* (
    args: unknown,
    _manager: unknown,
    config: ToolRunnableConfig = {},
  ): AsyncGenerator<{ delta: string }, [string | ToolMessage, ToolResult]> {
    const toolCallId = config.toolCall?.id;
    const thread: unknown = config.configurable?.['thread_id'];
    const call =
      toolCallId === undefined
        ? undefined
        : { scope: scopeOf(typeof thread === 'string' ? thread : undefined), toolCallId };
    const stream = rented.stream(args, { signal: config.signal, call });
    let result: ToolResult;
    try {
      let next = await stream.next();
      for (; !next.done; next = await stream.next()) yield { delta: next.value };
      result = next.value;
    } finally {
      // Whoever stops listening stops the run.
      await stream.return(undefined as never);
    }
    const content = modelText(result);
    if (result.status === 'completed' || toolCallId === undefined) return [content, result];
    // Returned, not thrown: a thrown error reaches the model with a stack trace or with others' advice.
    return [
      new ToolMessage({ status: 'error', content, artifact: result, tool_call_id: toolCallId, name }),
      result,
    ];
  };
  const fields = { name, description, func, responseFormat: 'content_and_artifact' };
  const published = new DynamicStructuredTool({ ...fields, schema: rented.inputSchema });
  // LangChain checks arguments against the published schema and throws; the tool itself mends a missing
  // `agent_id` or an input in the creator's own form, and says in words what it cannot mend.
  const lenient = new DynamicStructuredTool({ ...fields, schema: { type: 'object' } });
  published.call = lenient.call.bind(lenient);
  return published;
}
