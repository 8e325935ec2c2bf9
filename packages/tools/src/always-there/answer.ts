import type { JsonObject } from '@agent-rental/contract';
import type { CallOptions } from '@agent-rental/sdk';
import { outputJson } from '../text/creator-text.js';
import { resultOfBadArguments, resultOfError } from '../definitions/error-result.js';
import type { ToolAnnotations, ToolCallOptions, ToolResult } from '../definitions/rented-tool.js';
import { argumentsObject, BadArgumentsError } from '../runs/run-arguments.js';

/** Hints of a tool that only reads: free and repeatable. */
export const READ_ONLY: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** An object result, which also has the object as JSON text. */
export function objectResult(value: JsonObject): ToolResult {
  return { status: 'completed', text: outputJson(value), structured: value };
}

/**
 * The stream of a tool that answers at once. An exception of `produce` becomes an error result.
 *
 * @throws the signal's reason after an abort.
 */
export async function* answer(
  args: unknown,
  options: ToolCallOptions | undefined,
  produce: (given: Record<string, unknown>, call: CallOptions) => Promise<ToolResult>,
): AsyncGenerator<string, ToolResult, undefined> {
  // The tool answers at once, so no text is streamed.
  yield* [];
  const signal = options?.signal;
  try {
    return await produce(argumentsObject(args), { signal });
  } catch (error) {
    signal?.throwIfAborted();
    return error instanceof BadArgumentsError ? resultOfBadArguments(error.message) : resultOfError(error);
  }
}
