import { ApiError } from '../../errors/api-error.js';
import type { Notifications } from '../../database/notifications.js';
import { createDeadline } from '@agent-rental/contract';

/** How often a waiting caller reads a run without a notification: one may be lost. */
export const POLL_INTERVAL_MS = 5_000;

/** The error of a caller that waits while its server stops. */
export function serverStops(runId: string): ApiError {
  return new ApiError('service_unavailable', 'The server is shutting down; the run goes on.', {
    next: 'Ask again.',
    runId,
    retryAfterSeconds: 5,
  });
}

/** Watches one run. */
interface RunWatch {
  /**
   * Waits for an announcement since the last call, at most `ms` and at most {@link POLL_INTERVAL_MS} milliseconds. False
   * once this server shuts down.
   */
  next(ms: number, signal: AbortSignal): Promise<boolean>;
  close(): void;
}

/** Announces changes of runs to every replica, so that callers need not poll. */
export interface RunChanges {
  /** Notifies all replicas. Never throws: waiting callers also poll. */
  announce(runId: string): Promise<void>;
  /** Begins to watch: no later announcement is missed. */
  watch(runId: string): RunWatch;
  /** Calls `listener` with the id of every run that is announced. */
  subscribe(listener: (runId: string) => void): void;
  /** Ends every wait. */
  close(): void;
}

export function createRunChanges(notifications: Notifications): RunChanges {
  const watches = new Map<string, Set<() => void>>();
  const ending = new AbortController();
  notifications.subscribe((runId) => {
    for (const wake of watches.get(runId) ?? []) wake();
  });
  return {
    announce: (runId) => notifications.publish(runId).catch(() => undefined),
    subscribe: (listener) => notifications.subscribe(listener),
    watch(runId) {
      let isAnnounced = false;
      let resume = (): void => undefined;
      const wake = () => {
        isAnnounced = true;
        resume();
      };
      const others = watches.get(runId) ?? new Set();
      watches.set(runId, others.add(wake));
      return {
        async next(ms, signal) {
          const deadline = createDeadline(Math.min(ms, POLL_INTERVAL_MS), signal, ending.signal);
          if (!isAnnounced && !deadline.signal.aborted) {
            await new Promise<void>((resolve) => {
              resume = resolve;
              deadline.signal.addEventListener('abort', () => resolve(), { once: true });
            });
          }
          deadline.clear();
          isAnnounced = false;
          return !ending.signal.aborted;
        },
        close() {
          others.delete(wake);
          if (others.size === 0) watches.delete(runId);
        },
      };
    },
    close: () => ending.abort(),
  };
}
