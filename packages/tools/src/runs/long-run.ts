import type { ExecuteBody } from '@agent-rental/contract';
import { createDeadline, type Deadline, type ExecuteOptions, type RentalClient } from '@agent-rental/sdk';
import { resultOfError } from '../definitions/error-result.js';
import type { ToolCallOptions, ToolResult } from '../definitions/rented-tool.js';
import { resultOfRun, resultOfRunning } from './run-result.js';

/** How long a call waits for its run. */
export class Patience {
  /** Aborts when the time is over, or when the caller leaves. */
  readonly leave: AbortSignal | undefined;
  readonly #deadline: Deadline | undefined;
  readonly #early = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ patienceMs, leave }: Pick<ToolCallOptions, 'patienceMs' | 'leave'>) {
    if (patienceMs !== undefined) {
      this.#deadline = createDeadline(patienceMs, leave, this.#early.signal);
    }
    this.leave = this.#deadline?.signal ?? leave;
  }

  /** Whether the time is over. */
  get isOver(): boolean {
    return this.#deadline?.isOver === true || this.#early.signal.aborted;
  }

  /** Ends the wait after this many milliseconds, or at its own end if that is sooner. Only for calls that have a limit. */
  shorten(patienceMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#early.abort(), patienceMs);
  }

  /** Ends the timers of the call. */
  end(): void {
    clearTimeout(this.#timer);
    this.#deadline?.clear();
  }
}

/**
 * Returns the result for a run that takes longer than its call waits. Requesting it keeps the run going without a caller.
 *
 * @param runId absent when the run was not begun yet.
 */
export async function resultOfLongRun(
  client: RentalClient,
  body: ExecuteBody,
  request: ExecuteOptions,
  runId: string | undefined,
): Promise<ToolResult> {
  const { idempotencyKey, adoptUndelivered, joinRetry, signal, leave } = request;
  try {
    const known = runId === undefined ? undefined : await client.getRun(runId, { signal });
    // A run that was not delivered has made room for another under the key.
    const state =
      known === undefined || ('error' in known && known.error !== undefined)
        ? // A call that joined the run of another has none under its own key: it has to join it again.
          await client.executeAsync(body, { idempotencyKey, adoptUndelivered, joinRetry, signal, leave })
        : known;
    return state.status === 'running' ? resultOfRunning(state) : resultOfRun(state);
  } catch (error) {
    signal?.throwIfAborted();
    leave?.throwIfAborted();
    return resultOfError(error);
  }
}
