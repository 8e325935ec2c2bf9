import { ADOPTION_MINUTES, type DoneEvent, type ExecuteBody } from '@agent-rental/contract';
import { ApiError, isApiError, type ExecuteOptions, type RentalClient } from '@agent-rental/sdk';
import { cleanText } from '../text/creator-text.js';
import { resultOfError } from '../definitions/error-result.js';
import { Patience, resultOfLongRun } from './long-run.js';
import type { ToolCallOptions, ToolResult } from '../definitions/rented-tool.js';
import { callKey } from './run-key.js';
import { resultOfRun, resultOfState } from './run-result.js';
import { chargeOf, reserveRun, type RunReservation } from './run-spending.js';
import type { RunTask } from './run-arguments.js';
import type { ToolContext } from '../definitions/tool-context.js';

const UNKNOWN_OUTCOME =
  'Whether it ran is not known; a run that was begun may have been charged. Calling again with the same arguments ' +
  `within ${ADOPTION_MINUTES} minutes takes that run over, if there is one, and does not pay for it again.`;

/** How long a call that joined an earlier one's run waits for it: the shortest default of a client known is 5 s. */
const JOINED_WAIT_MS = 4_000;

/**
 * Runs a task and yields its output as it is made.
 *
 * A connection lost on the way is not a lost run: the same request with the same key gives the answer of
 * the run that was begun, and is not paid again.
 */
export async function* runTask(
  context: ToolContext,
  run: RunTask,
  options: ToolCallOptions,
): AsyncGenerator<string, ToolResult, undefined> {
  const { agentId, ...args } = run;
  const idempotencyKey = (await callKey(options, agentId, args)) ?? crypto.randomUUID();
  let spent: RunReservation | undefined;
  try {
    spent = await reserveRun(context, agentId, idempotencyKey, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    options.leave?.throwIfAborted();
    return resultOfError(error);
  }
  // An abort leaves it counted, as a run does that goes on: it may be charged.
  const result = yield* runPatiently(context.client, run, idempotencyKey, options);
  await spent?.settle(chargeOf(result, spent.lamports));
  return result;
}

/** @throws the signals' reasons when the caller cancels or leaves. */
async function* runPatiently(
  client: RentalClient,
  { agentId, task, input, inputUri }: RunTask,
  idempotencyKey: string,
  options: ToolCallOptions,
): AsyncGenerator<string, ToolResult, undefined> {
  const body: ExecuteBody = {
    agent_id: agentId,
    task,
    ...(input === undefined ? {} : { input }),
    ...(inputUri === undefined ? {} : { input_uri: inputUri }),
  };
  const patience = new Patience(options);
  let runId: string | undefined;
  const request: ExecuteOptions = {
    idempotencyKey,
    // A caller that calls again because no answer came, under any key, gets the answer that was paid for.
    adoptUndelivered: options.adoptUndelivered ?? true,
    joinRetry: options.retrySession,
    signal: options.signal,
    leave: patience.leave,
    onRunId: (id, isJoined) => {
      runId = id;
      // A client that has called again gives up soon.
      if (isJoined) patience.shorten(JOINED_WAIT_MS);
    },
  };
  try {
    return yield* endOfRun(client, body, request, options.endOnly);
  } catch (error) {
    options.signal?.throwIfAborted();
    options.leave?.throwIfAborted();
    if (!patience.isOver) throw error;
    return await resultOfLongRun(client, body, { ...request, leave: options.leave }, runId);
  } finally {
    patience.end();
  }
}

/** @throws the signals' reasons when the caller cancels or leaves. */
async function* endOfRun(
  client: RentalClient,
  body: ExecuteBody,
  request: ExecuteOptions,
  endOnly = false,
): AsyncGenerator<string, ToolResult, undefined> {
  const throwIfOver = (): void => {
    request.signal?.throwIfAborted();
    request.leave?.throwIfAborted();
  };
  try {
    if (endOnly) return resultOfState(await client.execute(body, request));
    for await (const event of client.executeStream(body, request)) {
      if (event.event === 'done') return resultOfDone(body.agent_id, event.data);
      if (event.event === 'running') return resultOfState(event.data);
      yield cleanText(event.data.delta);
    }
  } catch (error) {
    throwIfOver();
    if (isApiError(error)) return resultOfError(error);
  }
  try {
    return resultOfState(await client.execute(body, request));
  } catch (error) {
    throwIfOver();
    return resultOfError(error, UNKNOWN_OUTCOME);
  }
}

function resultOfDone(agentId: string, done: DoneEvent): ToolResult {
  if (done.error !== undefined) {
    // A fault of the service, after the stream had begun.
    const { code, message, reason, status, request_id, on_chain_error } = done.error;
    return resultOfError(
      new ApiError({
        code,
        message,
        reason,
        status,
        requestId: request_id,
        runId: done.error.run_id,
        onChainError: on_chain_error,
      }),
    );
  }
  const { run_id, status, cost_lamports, duration_ms, output, joined } = done;
  return resultOfRun({ run_id, agent_id: agentId, status, cost_lamports, duration_ms, output, joined });
}
