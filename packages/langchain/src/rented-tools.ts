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

/** Name of the custom event with early output, `{delta, toolCallId}`, for `streamEvents` and callback handlers. */
export const DELTA_EVENT = 'agent_rental_delta';

/** Options of {@link rentedTools}: the common options of toolsets, and options for LangChain. */
export interface RentedToolsOptions extends Omit<ToolsetOptions, 'cache'> {
  /** Names the conversation of graphs without a `thread_id`. A tool call in it is paid once. */
  readonly scope?: string | undefined;
}

/**
 * A client's rented agents as LangChain tools, with the fixed tools.
 *
 * Results are text for the model, with the whole {@link ToolResult} as the message's artifact. A failed call is a message with
 * status `error`. Early output is a tool event of `{delta}` (`streamMode: ['tools']`), and the custom event {@link DELTA_EVENT}
 * of `streamEvents`.
 *
 * @throws ApiError or ConnectionError if the rentals cannot be listed.
 */
export async function rentedTools(
  client: RentalClient,
  options: RentedToolsOptions = {},
): Promise<StructuredTool[]> {
  const scopeOf = callScope(options.scope);
  const tools = await rentedToolset(client, options).list();
  return tools.map((rented) => toStructuredTool(rented, scopeOf));
}

/** The output of a tool for LangChain: content and artifact. */
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
        // `streamEvents` has no tool events. Without a listener there is no manager, and a dispatch would throw.
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
    // Return the error: the model would get a thrown error with a stack trace or other advice.
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

/** A schema that accepts everything. */
const ANYTHING = {};

/**
 * A tool without LangChain's check of arguments, which throws. A rented tool repairs a missing `agent_id` or an input in the
 * creator's form, and reports other faults in words.
 */
class LenientTool extends DynamicStructuredTool {
  override async call(...given: Parameters<DynamicStructuredTool['call']>): Promise<unknown> {
    const unchecked = Object.create(this, { schema: { value: ANYTHING } }) as this;
    return super.call.apply(unchecked, given);
  }
}
