import { randomUUID } from 'node:crypto';

/** Header that names a session of the protocol's 2025 era. */
export const SESSION_HEADER = 'mcp-session-id';

/** What tells one running call from all others. */
export interface CallAddress {
  /** Who called; nobody can cancel another's call. */
  readonly callerId: string;
  readonly sessionId: string;
  readonly requestId: string | number;
}

/**
 * Calls of 2025-era clients that are running here, so that `notifications/cancelled`, which that era sends
 * as a request of its own, finds them.
 *
 * A session is only a name that a client repeats: nothing is kept for it, every server accepts it, and none
 * ever answers 404, from which clients do not recover.
 */
export class RunningCalls {
  readonly #calls = new Map<string, AbortController>();

  /** A name for a new session. */
  newSessionId(): string {
    return randomUUID();
  }

  /** Registers a call; `release` forgets it. */
  begin(address: CallAddress): { signal: AbortSignal; release: () => void } {
    const key = keyOf(address);
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
    this.#calls.get(keyOf(address))?.abort(new Error('The client cancelled the call.'));
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

function keyOf(address: CallAddress): string {
  return JSON.stringify([address.callerId, address.sessionId, address.requestId]);
}
