import type { Notifications } from '../../database/notifications.js';
import { createDeadline } from '../../platform/deadline.js';

/** How often a waiting caller reads a run without a notification: one may be lost. */
export const POLL_INTERVAL_MS = 5_000;

/** Watches one run. */
export interface RunWatch {
  /**
   * Waits for news of the run since the last call, at most `ms`, and at most {@link POLL_INTERVAL_MS}. False once
   * this server wants to stop.
   */
  next(ms: number, signal: AbortSignal): Promise<boolean>;
  close(): void;
}

/** Announces changes of runs to every replica, so that callers need not poll. */
export interface RunChanges {
  /** Notifies all replicas. Never throws: waiting callers also poll. */
  announce(runId: string): Promise<void>;
  /** Begins to watch: what is announced from here on is not missed. */
  watch(runId: string): RunWatch;
  /** Calls `listener` with the id of every run that is announced. */
  subscribe(listener: (runId: string) => void): void;
  /** Lets go of everybody who waits. */
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
      let isNews = false;
      let resume = (): void => undefined;
      const wake = () => {
        isNews = true;
        resume();
      };
      const others = watches.get(runId) ?? new Set();
      watches.set(runId, others.add(wake));
      return {
        async next(ms, signal) {
          const deadline = createDeadline(Math.min(ms, POLL_INTERVAL_MS), signal, ending.signal);
          if (!isNews && !deadline.signal.aborted) {
            await new Promise<void>((resolve) => {
              resume = resolve;
              deadline.signal.addEventListener('abort', () => resolve(), { once: true });
            });
          }
          deadline.clear();
          isNews = false;
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
