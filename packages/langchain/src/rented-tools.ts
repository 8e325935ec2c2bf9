import type { RentalClient } from '@agent-rental/sdk';
import {
  modelText,
  rentedToolset,
  type RentedTool,
  type ToolResult,
  type ToolsetOptions,
} from '@agent-rental/tools';
import { dispatchCustomEvent } from '@langchain/core/callbacks/dispatch/web';
import { ToolMessage } from '@langchain/core/messages';
import { DynamicStructuredTool, type StructuredTool, type ToolRunnableConfig } from '@langchain/core/tools';
import { callScope } from './call-scope.js';

/** Name of the custom event with early output, `{delta, toolCallId}`, that `streamEvents` and callback handlers get. */
export const DELTA_EVENT = 'agent_rental_delta';

/** Options of {@link rentedTools}: those of every set of tools, and LangChain's own. */
export interface RentedToolsOptions extends Omit<ToolsetOptions, 'cache'> {
  /** Names the conversation, where graphs run without a `thread_id`; a tool call in it is paid once. */
  readonly scope?: string | undefined;
}

/**
 * The agents that a client has rented, as LangChain tools, beside those that search and run any agent.
 *
 * Results are text for the model, with the whole {@link ToolResult} as the message's artifact; a call that
 * fails is a message with status `error`. Output that comes early is a tool event of `{delta}` (`streamMode: ['tools']`), and
 * the custom event {@link DELTA_EVENT} of `streamEvents`.
 *
 * @throws ApiError or ConnectionError when the rentals cannot be listed.
 */
export async function rentedTools(
  client: RentalClient,
  options: RentedToolsOptions = {},
): Promise<StructuredTool[]> {
  const scopeOf = callScope(options.scope);
  const tools = await rentedToolset(client, options).list();
  return tools.map((rented) => toStructuredTool(rented, scopeOf));
}

/** What a tool gives to LangChain: content, and the artifact beside it. */
type ContentAndArtifact = [string | ToolMessage, ToolResult];

function toStructuredTool(
  rented: RentedTool,
  scopeOf: (config: ToolRunnableConfig) => string,
): StructuredTool {
  const { name, description } = rented;
  const func = async function* (
    args: unknown,
    manager: unknown,
    config: ToolRunnableConfig = {},
  ): AsyncGenerator<{ delta: string }, ContentAndArtifact> {
    const toolCallId = config.toolCall?.id;
    const call = toolCallId === undefined ? undefined : { scope: scopeOf(config), toolCallId };
    const stream = rented.stream(args, { signal: config.signal, call });
    let result: ToolResult;
    try {
      let next = await stream.next();
      for (; !next.done; next = await stream.next()) {
        const delta = next.value;
        // `streamEvents` knows no tool events. Without a listener there is no manager, and dispatching throws.
        if (manager !== undefined) await dispatchCustomEvent(DELTA_EVENT, { delta, toolCallId }, config);
        yield { delta };
      }
      result = next.value;
    } finally {
      // A consumer that stops reading cancels the run.
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
  return new LenientTool({
    name,
    description,
    func,
    schema: rented.inputSchema,
    responseFormat: 'content_and_artifact',
  });
}

/** Accepts everything. */
const ANYTHING = {};

/**
 * LangChain checks arguments against the published schema and throws. A rented tool mends a missing `agent_id` or
 * an input in the creator's own form, and says in words what it cannot mend: so it is called unchecked.
 */
class LenientTool extends DynamicStructuredTool {
  override async call(...given: Parameters<DynamicStructuredTool['call']>): Promise<unknown> {
    const unchecked = Object.create(this, { schema: { value: ANYTHING } }) as this;
    return super.call.apply(unchecked, given);
  }
}
