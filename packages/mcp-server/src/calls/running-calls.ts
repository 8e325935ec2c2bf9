import { createHash } from 'node:crypto';

/** The address of one running call. */
interface CallAddress {
  /** The caller, who can cancel only own calls. */
  readonly callerId: string;
  readonly sessionId: string;
  readonly requestId: string | number;
}

/**
 * Running calls in this process, of clients of the eras before 2026-07-28. These clients send `notifications/cancelled` as a
 * separate request, which finds the call here.
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

  /** Aborts a call, if it runs here. */
  cancel(address: CallAddress): void {
    this.cancelByKey(keyOfCall(address));
  }

  /** Aborts a call for another replica. @param key of {@link keyOfCall} */
  cancelByKey(key: string): void {
    this.#calls.get(key)?.abort(new Error('The client cancelled the call.'));
  }

  /** Aborts all. */
  cancelAll(): void {
    for (const call of this.#calls.values()) call.abort(new Error('The server is shutting down.'));
  }

  /** Number of running calls. */
  get size(): number {
    return this.#calls.size;
  }
}

/** Id of a call for all replicas. It does not reveal the caller. */
export function keyOfCall({ callerId, sessionId, requestId }: CallAddress): string {
  return createHash('sha256')
    .update(JSON.stringify([callerId, sessionId, requestId]))
    .digest('base64url');
}
