import type { Metrics } from './metrics.js';

/** What is counted of the store of runs. */
interface CountedRuns {
  /** Resolves with undefined when the run does not begin. */
  begin(run: never, how?: never): Promise<object | undefined>;
  finish(run: { status: 'completed' | 'failed' }, salt?: Buffer): Promise<void>;
  hold(run: { status: 'completed' | 'failed' }, salt?: Buffer): Promise<void>;
  discard(runId: string, error: never, failure?: never): Promise<void>;
  markUndelivered(runId: string, error: never, end: never): Promise<void>;
}

/** The store of runs, with each beginning and end counted. */
export function countRuns<R extends CountedRuns>(runs: R, metrics: Metrics): R {
  const counted: CountedRuns = {
    async begin(run, how) {
      const begun = await runs.begin(run, how);
      if (begun !== undefined) metrics.runBegan();
      return begun;
    },
    async finish(run, salt) {
      await runs.finish(run, salt);
      metrics.runEnded(run.status);
    },
    async hold(run, salt) {
      await runs.hold(run, salt);
      metrics.runEnded('held');
    },
    async discard(runId, error, failure) {
      await runs.discard(runId, error, failure);
      metrics.runEnded('refused');
    },
    async markUndelivered(runId, error, end) {
      await runs.markUndelivered(runId, error, end);
      metrics.runEnded('undelivered');
    },
  };
  return { ...runs, ...counted };
}
