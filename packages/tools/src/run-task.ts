import type { DoneEvent, ExecuteBody } from '@agent-rental/contract';
import { ApiError, isApiError, type RentalClient } from '@agent-rental/sdk';
import { cleanText } from './creator-text.js';
import { resultOfError } from './error-result.js';
import type { ToolCallOptions, ToolResult } from './rented-tool.js';
import { runKey } from './run-key.js';
import { resultOfRun } from './run-result.js';

/** What is to be run. */
export interface RunTask {
  readonly agentId: string;
  readonly task: string;
  readonly input?: Exclude<ExecuteBody['input'], undefined>;
}

const UNKNOWN_OUTCOME = 'Whether it ran is not known; a run that was begun may have been charged.';

/**
 * Runs a task and yields its output as it is made.
 *
 * A connection lost on the way is not a lost run: the same request with the same key gives the answer of
 * the run that was begun, and is not paid again.
 */
export async function* runTask(
  client: RentalClient,
  run: RunTask,
  options: ToolCallOptions,
): AsyncGenerator<string, ToolResult, undefined> {
  const { agentId, task, input } = run;
  const body: ExecuteBody = { agent_id: agentId, task, ...(input === undefined ? {} : { input }) };
  const idempotencyKey = options.idempotencyKey ?? (await keyOf(run, options));
  const request = { idempotencyKey, signal: options.signal };
  try {
    for await (const event of client.executeStream(body, request)) {
      if (event.event === 'done') return resultOfDone(agentId, event.data);
      yield cleanText(event.data.delta);
    }
  } catch (error) {
    options.signal?.throwIfAborted();
    if (isApiError(error)) return resultOfError(error);
  }
  try {
    return resultOfRun(await client.execute(body, request));
  } catch (error) {
    options.signal?.throwIfAborted();
    return resultOfError(error, UNKNOWN_OUTCOME);
  }
}

function resultOfDone(agentId: string, done: DoneEvent): ToolResult {
  if (done.error !== undefined) {
    // A fault of the service, after the stream had begun.
    const { code, message, status, request_id, on_chain_error } = done.error;
    return resultOfError(
      new ApiError({
        code,
        message,
        status,
        requestId: request_id,
        runId: done.error.run_id,
        onChainError: on_chain_error,
      }),
    );
  }
  const { run_id, status, cost_lamports, duration_ms, output } = done;
  return resultOfRun({ run_id, agent_id: agentId, status, cost_lamports, duration_ms, output });
}

async function keyOf(run: RunTask, options: ToolCallOptions): Promise<string> {
  if (options.call === undefined) return crypto.randomUUID();
  const { agentId, ...args } = run;
  return runKey({ ...options.call, agentId, args });
}
