import type { ErrorCode, JsonObject, JsonSchema } from '@agent-rental/contract';
import type { ToolCallIdentity } from './run-key.js';

/** Hints about a tool, in the words of MCP. */
export interface ToolAnnotations {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** Options of one call of a tool. */
export interface ToolCallOptions {
  /** Aborts the request, and with it the run. */
  readonly signal?: AbortSignal | undefined;
  /** Which call this is; a repeated call of the same identity and arguments is one run, paid once. */
  readonly call?: ToolCallIdentity | undefined;
  /** The run's key, where the caller has one of its own. Wins over `call`. Default: a fresh key per call. */
  readonly idempotencyKey?: string | undefined;
}

/** Options of {@link RentedTool.invoke}. */
export interface InvokeOptions extends ToolCallOptions {
  /** Called with each piece of output, in order. */
  readonly onDelta?: ((delta: string) => void) | undefined;
}

/** Why a call gave no run: an error of the API, or of the way to it. */
export interface ToolError {
  readonly code: ErrorCode | 'connection_error';
  /** HTTP status, where the API answered. */
  readonly status?: number;
  readonly requestId?: string;
  readonly retryAfterSeconds?: number;
}

/**
 * What a call came to. Plain JSON, because frameworks store and stream it.
 *
 * `completed`: what was asked for. `failed`: the agent ran, could not do the task, and may have charged.
 * `error`: nothing ran for this call, or its outcome is not known.
 */
export interface ToolResult {
  readonly status: 'completed' | 'failed' | 'error';
  /** What the model reads. For an object output, that object as JSON. */
  readonly text: string;
  /** One line from the marketplace about the run: its id, its cost, and where the rest of a long output is. */
  readonly note?: string;
  /** The agent's output when it is an object, exactly. */
  readonly structured?: JsonObject;
  /** `text` is only the beginning of the output; `get_run` with this offset gives what follows. */
  readonly nextOffset?: number;
  readonly runId?: string;
  readonly agentId?: string;
  /** What was charged, in lamports; exact as a JSON number. */
  readonly costLamports?: number;
  readonly durationMs?: number;
  readonly error?: ToolError;
}

/** A tool, described for any framework. */
export interface RentedTool {
  /** `^[a-z][a-z0-9_]{0,39}$`, stable for a listing. */
  readonly name: string;
  /** For people. */
  readonly title: string;
  /** For the model; at most 1024 characters. */
  readonly description: string;
  /** Portable JSON Schema: accepted by every large model provider as it stands. */
  readonly inputSchema: JsonSchema;
  readonly annotations: ToolAnnotations;
  /** The listing that a direct tool is bound to. */
  readonly agentId?: string;
  /**
   * Calls the tool; yields the output as it is made and returns the result. Throws only when `signal`
   * aborts, with the signal's reason; leaving early aborts the run.
   */
  stream(args: unknown, options?: ToolCallOptions): AsyncGenerator<string, ToolResult, undefined>;
  /** As {@link RentedTool.stream}, for callers who only want the result. */
  invoke(args: unknown, options?: InvokeOptions): Promise<ToolResult>;
}

/** A tool without its `invoke`, which is the same for every tool. */
export type RentedToolDefinition = Omit<RentedTool, 'invoke'>;

/** Completes a tool. */
export function defineTool(definition: RentedToolDefinition): RentedTool {
  return {
    ...definition,
    invoke: async (args, options = {}) => {
      const stream = definition.stream(args, options);
      try {
        for (;;) {
          const next = await stream.next();
          if (next.done) return next.value;
          options.onDelta?.(next.value);
        }
      } finally {
        // Only a throwing `onDelta` leaves early; the run must not go on without a listener.
        await stream.return(undefined as never);
      }
    },
  };
}

/** The text that a model gets, where a framework has one text for a result. */
export function modelText(result: ToolResult): string {
  return result.note === undefined ? result.text : `${result.text}\n\n${result.note}`;
}
