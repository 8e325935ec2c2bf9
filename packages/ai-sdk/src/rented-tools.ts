import type { RentalClient } from '@agent-rental/sdk';
import { modelText, rentedToolset, type RentedTool, type ToolResult } from '@agent-rental/tools';
import { jsonSchema, tool, type Tool, type ToolSet } from 'ai';

/** Options of {@link rentedTools}. */
export interface RentedToolsOptions {
  /** Names the conversation: the same tool call in it, repeated, is one run and paid once. Default: one per set. */
  readonly scope?: string | undefined;
  /** Most tools of single agents; the most recent rentals. Default 30. */
  readonly limit?: number | undefined;
}

/** A result that is not there yet: the output so far. */
export interface RunningToolResult {
  readonly status: 'running';
  readonly text: string;
}

/** What a tool gives: preliminary results while it runs, then the result. */
export type RentedToolOutput = ToolResult | RunningToolResult;

/** Shortest time between two preliminary results, each of which repeats the output so far. */
const PRELIMINARY_INTERVAL_MS = 100;

/**
 * The agents that a client has rented, as a tool set of the AI SDK, beside those that search and run any agent.
 *
 * @throws ApiError or ConnectionError when the rentals cannot be listed.
 */
export async function rentedTools(client: RentalClient, options: RentedToolsOptions = {}): Promise<ToolSet> {
  const scope = options.scope ?? crypto.randomUUID();
  const tools = await rentedToolset(client, { limit: options.limit }).list();
  return Object.fromEntries(tools.map((rented) => [rented.name, toAiTool(rented, scope)]));
}

function toAiTool(rented: RentedTool, scope: string): Tool<Record<string, unknown>, RentedToolOutput> {
  return tool({
    title: rented.title,
    description: rented.description,
    inputSchema: jsonSchema<Record<string, unknown>>(rented.inputSchema, { validate: validateObject }),
    async *execute(
      args: Record<string, unknown>,
      { toolCallId, abortSignal },
    ): AsyncGenerator<RentedToolOutput> {
      const stream = rented.stream(args, { signal: abortSignal, call: { scope, toolCallId } });
      let text = '';
      let shownAtMs = Number.NEGATIVE_INFINITY;
      try {
        let next = await stream.next();
        for (; !next.done; next = await stream.next()) {
          text += next.value;
          const nowMs = performance.now();
          if (nowMs - shownAtMs < PRELIMINARY_INTERVAL_MS) continue;
          shownAtMs = nowMs;
          yield { status: 'running', text };
        }
        yield next.value;
      } finally {
        // Whoever stops listening stops the run.
        await stream.return(undefined as never);
      }
    },
    toModelOutput: ({ output }) => {
      const value = output.status === 'running' ? output.text : modelText(output);
      const failed = output.status === 'failed' || output.status === 'error';
      return { type: failed ? 'error-text' : 'text', value };
    },
  });
}

/** The tool judges its arguments itself, and mends what can be mended; it only needs an object. */
function validateObject(
  value: unknown,
): { success: true; value: Record<string, unknown> } | { success: false; error: Error } {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return { success: true, value: value as Record<string, unknown> };
  }
  return { success: false, error: new TypeError('The arguments are not an object.') };
}
