import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';

/** Counts the callers that wait for a run, on all replicas. */
export interface CallerCounts {
  /** One more caller waits. */
  arrive(runId: string): Promise<void>;
  /** One caller has left without the answer. With `keepRunning`, the run goes on without a caller. */
  detach(runId: string, how: { keepRunning: boolean }): Promise<void>;
  /** A caller asked for the run, so the run goes on. */
  keepRunning(runId: string): Promise<void>;
}

/** Makes the counts. */
export function createCallerCounts(db: Db): CallerCounts {
  return {
    async arrive(runId) {
      await db
        .updateTable('runs')
        .set({ waiters: sql`waiters + 1`, left_at: null })
        .where('id', '=', runId)
        .where('status', '=', 'running')
        .execute();
    },
    async detach(runId, { keepRunning }) {
      await db
        .updateTable('runs')
        .set({
          waiters: sql`greatest(waiters - 1, 0)`,
          left_at: sql`case when waiters <= 1 then now() end`,
          ...(keepRunning ? { keeps_going: true } : {}),
        })
        .where('id', '=', runId)
        .execute();
    },
    async keepRunning(runId) {
      await db
        .updateTable('runs')
        .set({ keeps_going: true })
        .where('id', '=', runId)
        .where('keeps_going', '=', false)
        .execute();
    },
  };
}
