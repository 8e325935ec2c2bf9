import type { ExecuteBody, Run, RunningRun } from '@agent-rental/contract';
import type { ExecuteOptions, RentalClient } from '@agent-rental/sdk';
import { resultOfError } from '../definitions/error-result.js';
import type { ToolResult } from '../definitions/rented-tool.js';
import { resultOfState } from './run-result.js';

/**
 * Returns the result for a run that takes longer than its call waits. The request keeps the run alive without a caller.
 *
 * @param runId absent if the stream has not started yet.
 * @param calledAt time of the call, in milliseconds of `performance.now`
 */
export async function resultOfLongRun(
  client: RentalClient,
  body: ExecuteBody,
  { idempotencyKey, keyWindowSeconds, signal, leave }: ExecuteOptions,
  { runId, calledAt }: { runId: string | undefined; calledAt: number },
): Promise<ToolResult> {
  try {
    const known = runId === undefined ? undefined : await client.getRun(runId, { signal });
    // After an undelivered run, the key starts another run.
    const isServed = known !== undefined && !('error' in known && known.error !== undefined);
    return resultOfState(
      isServed
        ? known
        : ofThisCall(
            await client.executeAsync(body, { idempotencyKey, keyWindowSeconds, signal, leave }),
            calledAt,
          ),
    );
  } catch (error) {
    signal?.throwIfAborted();
    leave?.throwIfAborted();
    return resultOfError(error);
  }
}

/**
 * The answer to a later request of the same call. An equal call started the run only if it started before this call.
 *
 * @param calledAt time of the call, in milliseconds of `performance.now`
 */
export function ofThisCall<State extends Run | RunningRun>(state: State, calledAt: number): State {
  const isOwn =
    state.joined !== undefined && state.joined.begun_seconds_ago * 1_000 <= performance.now() - calledAt;
  return isOwn ? { ...state, joined: undefined } : state;
}
