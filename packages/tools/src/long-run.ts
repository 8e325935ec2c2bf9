import type { ExecuteBody } from '@agent-rental/contract';
import type { ExecuteOptions, RentalClient } from '@agent-rental/sdk';
import { resultOfError } from './error-result.js';
import type { ToolCallOptions, ToolResult } from './rented-tool.js';
import { resultOfRun, resultOfRunning } from './run-result.js';

/** How long a call waits for its run. */
export class Patience {
  /** Aborts when the time is over, or when the caller leaves. */
  readonly leave: AbortSignal | undefined;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor({ patienceMs, leave }: Pick<ToolCallOptions, 'patienceMs' | 'leave'>) {
    this.leave = leave;
    if (patienceMs === undefined) return;
    const controller = new AbortController();
    this.leave = leave ? AbortSignal.any([leave, controller.signal]) : controller.signal;
    this.#timer = setTimeout(() => {
      this.#isOver = true;
      controller.abort(new Error('The run takes longer than this call waits.'));
    }, patienceMs);
  }

  /** Whether the time is over. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** The call is over: nothing runs out any more. */
  end(): void {
    clearTimeout(this.#timer);
  }
}

/**
 * What to say of a run that takes longer than its call waits. Asking for it makes it go on without anybody.
 *
 * @param runId absent when the run was not begun yet.
 */
export async function resultOfLongRun(
  client: RentalClient,
  body: ExecuteBody,
  request: ExecuteOptions,
  runId: string | undefined,
): Promise<ToolResult> {
  const { idempotencyKey, signal, leave } = request;
  try {
    const known = runId === undefined ? undefined : await client.getRun(runId, { signal });
    // A run that came to nothing has made room for another under the key.
    const state =
      known === undefined || ('error' in known && known.error !== undefined)
        ? await client.executeAsync(body, { idempotencyKey, signal, leave })
        : known;
    return state.status === 'running' ? resultOfRunning(state) : resultOfRun(state);
  } catch (error) {
    signal?.throwIfAborted();
    leave?.throwIfAborted();
    return resultOfError(error);
  }
}
