import { createHash } from 'node:crypto';

/** The address of one running call. */
export interface CallAddress {
  /** The caller, who can cancel only own calls. Without a session this is the caller's key. */
  readonly callerId: string;
  /** Empty without a session. */
  readonly sessionId: string;
  readonly requestId: string | number;
}

/** The calls of one address, each with the key of its run. A resumed call has the key of the first one. */
type CallsOfAddress = Map<AbortController, string>;

/**
 * Running calls in this process. A client sends `notifications/cancelled` as a separate request, which finds the call here.
 * Several clients of one key may have different calls of one id at a time: such a cancel names none of them.
 */
export class RunningCalls {
  readonly #calls = new Map<string, CallsOfAddress>();

  /** Registers a call; `release` forgets it. @param runKey the same for a call and its resumption */
  begin(address: CallAddress, runKey: string): { signal: AbortSignal; release: () => void } {
    const key = keyOfCall(address);
    const controller = new AbortController();
    const same = this.#calls.get(key) ?? new Map<AbortController, string>();
    this.#calls.set(key, same.set(controller, runKey));
    return {
      signal: controller.signal,
      release: () => {
        same.delete(controller);
        if (same.size === 0 && this.#calls.get(key) === same) this.#calls.delete(key);
      },
    };
  }

  /** Aborts a call, if it runs here. */
  cancel(address: CallAddress): void {
    this.cancelByKey(keyOfCall(address));
  }

  /** Aborts a call for another replica. @param key of {@link keyOfCall} */
  cancelByKey(key: string): void {
    const same = this.#calls.get(key);
    if (same === undefined || new Set(same.values()).size > 1) return;
    for (const call of same.keys()) call.abort(new Error('The client cancelled the call.'));
  }

  /** Aborts all. */
  cancelAll(): void {
    for (const same of this.#calls.values())
      for (const call of same.keys()) call.abort(new Error('The server is shutting down.'));
  }

  /** Number of addresses with a running call. */
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
