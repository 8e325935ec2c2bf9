import { createHash } from 'node:crypto';

/** What tells one running call from all others. */
interface CallAddress {
  /** The caller; a caller can cancel its own calls alone. */
  readonly callerId: string;
  readonly sessionId: string;
  readonly requestId: string | number;
}

/**
 * Calls of clients of the eras before 2026-07-28 that are running here, so that `notifications/cancelled`, which those
 * send as a request of its own, finds them.
 */
export class RunningCalls {
  readonly #calls = new Map<string, AbortController>();

  /** Registers a call; `release` forgets it. */
  begin(address: CallAddress): { signal: AbortSignal; release: () => void } {
    const key = keyOfCall(address);
    const controller = new AbortController();
    this.#calls.set(key, controller);
    return {
      signal: controller.signal,
      release: () => {
        if (this.#calls.get(key) === controller) this.#calls.delete(key);
      },
    };
  }

  /** Aborts a call; one that is not running here is none of our business. */
  cancel(address: CallAddress): void {
    this.cancelByKey(keyOfCall(address));
  }

  /** As `cancel`, for a call that another replica names. @param key of {@link keyOfCall} */
  cancelByKey(key: string): void {
    this.#calls.get(key)?.abort(new Error('The client cancelled the call.'));
  }

  /** Aborts all. */
  cancelAll(): void {
    for (const call of this.#calls.values()) call.abort(new Error('The server is shutting down.'));
  }

  /** How many calls are running. */
  get size(): number {
    return this.#calls.size;
  }
}

/** Id of a call for all replicas. Its caller cannot be derived from it. */
export function keyOfCall({ callerId, sessionId, requestId }: CallAddress): string {
  return createHash('sha256')
    .update(JSON.stringify([callerId, sessionId, requestId]))
    .digest('base64url');
}
