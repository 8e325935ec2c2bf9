import { EQUAL_CALL_SECONDS, type DoneEvent, type ExecuteBody } from '@agent-rental/contract';
import {
  ApiError,
  createDeadline,
  isApiError,
  type ExecuteOptions,
  type RentalClient,
} from '@agent-rental/sdk';
import { cleanText } from '../text/creator-text.js';
import { withCallOffer } from '../renting/call-offer.js';
import { resultOfError } from '../definitions/error-result.js';
import { ofThisCall, resultOfLongRun } from './long-run.js';
import type { ToolCallOptions, ToolResult } from '../definitions/rented-tool.js';
import { callKey, equalCallKey } from './run-key.js';
import { resultOfRun, resultOfState } from './run-result.js';
import { chargeOf, reserveRun, type RunReservation } from './run-spending.js';
import type { RunTask } from './run-arguments.js';
import type { ToolContext } from '../definitions/tool-context.js';

const UNKNOWN_OUTCOME = 'The agent may have run, and the run may have been charged.';
const CALL_AGAIN =
  `Call again with the same arguments. Until ${EQUAL_CALL_SECONDS} s after the end of the run, ` +
  'such a call gets its answer and pays nothing.';

/**
 * Runs a task and streams its output.
 *
 * A lost connection does not lose the run. A retry with the same key gets the answer of the started run, and does not pay
 * again.
 */
export async function* runTask(
  context: ToolContext,
  run: RunTask,
  options: ToolCallOptions,
): AsyncGenerator<string, ToolResult, undefined> {
  const { agentId, ...args } = run;
  const { callback = context.callback } = options;
  const body: ExecuteBody = {
    agent_id: agentId,
    task: args.task,
    ...(args.input === undefined ? {} : { input: args.input }),
    ...(args.inputUri === undefined ? {} : { input_uri: args.inputUri }),
    ...(callback === undefined ? {} : { callback_url: callback.url, callback_events: callback.events }),
  };
  const { equalCallsOf } = options;
  const ownKey = (await callKey(options, agentId, args)) ?? crypto.randomUUID();
  const key =
    equalCallsOf === undefined
      ? { idempotencyKey: ownKey }
      : { idempotencyKey: await equalCallKey(equalCallsOf, body), keyWindowSeconds: EQUAL_CALL_SECONDS };
  let spent: RunReservation | undefined;
  try {
    spent = await reserveRun(context, agentId, ownKey, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    options.leave?.throwIfAborted();
    return resultOfError(error);
  }
  // After an abort, or for a running run, the price stays counted: the run may be charged.
  const result = yield* runPatiently(context.client, body, key, options);
  await spent?.settle(chargeOf(result, spent.lamports));
  return withCallOffer(context, agentId, result, options);
}

/** @throws the signals' reasons when the caller cancels or leaves. */
async function* runPatiently(
  client: RentalClient,
  body: ExecuteBody,
  key: Pick<ExecuteOptions, 'idempotencyKey' | 'keyWindowSeconds'>,
  options: ToolCallOptions,
): AsyncGenerator<string, ToolResult, undefined> {
  const calledAt = performance.now();
  const wait = createDeadline(options.patienceMs, options.leave);
  let runId: string | undefined;
  const request: ExecuteOptions = {
    ...key,
    signal: options.signal,
    leave: wait.signal,
    onRunId: (id) => {
      runId = id;
    },
  };
  try {
    return yield* endOfRun(client, body, request, calledAt, options.endOnly);
  } catch (error) {
    options.signal?.throwIfAborted();
    options.leave?.throwIfAborted();
    if (!wait.isOver) throw error;
    return await resultOfLongRun(client, body, { ...request, leave: options.leave }, { runId, calledAt });
  } finally {
    wait.clear();
  }
}

/** @throws the signals' reasons when the caller cancels or leaves. */
async function* endOfRun(
  client: RentalClient,
  body: ExecuteBody,
  request: ExecuteOptions,
  calledAt: number,
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
      yield cleanText(event.data.delta);
    }
  } catch (error) {
    throwIfOver();
    if (isApiError(error)) return resultOfError(error);
  }
  try {
    return resultOfState(ofThisCall(await client.execute(body, request), calledAt));
  } catch (error) {
    throwIfOver();
    const next =
      request.keyWindowSeconds === undefined ? UNKNOWN_OUTCOME : `${UNKNOWN_OUTCOME} ${CALL_AGAIN}`;
    return resultOfError(error, next);
  }
}

function resultOfDone(agentId: string, done: DoneEvent): ToolResult {
  if (done.error !== undefined) {
    // A fault of the service, after the stream had started.
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
