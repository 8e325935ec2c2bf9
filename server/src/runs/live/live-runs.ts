import type { Logger } from '../../platform/logger.js';
import { POLL_INTERVAL_MS, type RunChanges } from './run-changes.js';
import { RunStoppedError, type StopReason } from './run-stopped.js';

/** The runs that work in this process. They do not depend on any request, and are stopped from any replica. */
export interface LiveRuns {
  /** Begins a run's work. Its signal aborts, with a RunStoppedError, when the run is to stop. */
  start<T>(runId: string, work: (stop: AbortSignal) => Promise<T>): Promise<T>;
  /** The run is on record: it is stopped no more, and the news of its end make nothing ask whether it is to stop. */
  forget(runId: string): void;
}

export function createLiveRuns(deps: {
  runs: { stopRequests(runIds: string[]): Promise<{ id: string; reason: StopReason }[]> };
  changes: RunChanges;
  logger: Logger;
}): LiveRuns {
  const live = new Map<string, AbortController>();
  const stop = (runId: string, reason: StopReason) =>
    live.get(runId)?.abort(new RunStoppedError(reason, runId));

  /** Stops the runs for which a stop was requested. */
  async function stopRequested(runIds: string[]): Promise<void> {
    if (runIds.length === 0) return;
    try {
      for (const { id, reason } of await deps.runs.stopRequests(runIds)) stop(id, reason);
    } catch (err) {
      deps.logger.warn({ err }, 'the requests to stop runs could not be read');
    }
  }
  deps.changes.subscribe((runId) => void stopRequested(live.has(runId) ? [runId] : []));
  let timer: NodeJS.Timeout | undefined;
  function forget(runId: string): void {
    if (live.delete(runId) && live.size === 0) clearInterval(timer);
  }

  return {
    forget,
    start(runId, work) {
      const controller = new AbortController();
      const running = work(controller.signal);
      if (live.size === 0) timer = setInterval(() => void stopRequested([...live.keys()]), POLL_INTERVAL_MS);
      live.set(runId, controller);
      const end = () => forget(runId);
      running.then(end, end);
      return running;
    },
  };
}
