import { sql } from 'kysely';
import type { Db } from '../platform/database/database.js';
import type { Task } from './parse.js';

/** A run whose answer reached nobody may be taken over for this long after its last caller left. */
const ADOPTABLE_MS = 10 * 60_000;

/** Who waits for a run, on whichever replica, and whether its answer has reached anybody. */
export interface Attendance {
  /** One more caller waits. */
  arrive(runId: string): Promise<void>;
  /** One caller has left without the answer. `keepsGoing`: the run goes on without anybody from now on. */
  leave(runId: string, keepsGoing: boolean): Promise<void>;
  /** Somebody has asked for the run: it goes on. */
  keepGoing(runId: string): Promise<void>;
  /** An answer has reached a caller. */
  delivered(runId: string): Promise<void>;
  /**
   * Gives the caller of `task` an equal run of the same wallet whose answer reached nobody; the one that was left
   * first. No other caller gets it while this one waits.
   */
  adopt(task: Task): Promise<string | undefined>;
}

export function createAttendance(db: Db): Attendance {
  return {
    async arrive(runId) {
      await db
        .updateTable('runs')
        .set({ waiters: sql`waiters + 1`, left_at: null })
        .where('id', '=', runId)
        .execute();
    },
    async leave(runId, keepsGoing) {
      await db
        .updateTable('runs')
        .set({
          waiters: sql`greatest(waiters - 1, 0)`,
          left_at: sql`case when waiters <= 1 then now() end`,
          ...(keepsGoing ? { keeps_going: true } : {}),
        })
        .where('id', '=', runId)
        .execute();
    },
    async keepGoing(runId) {
      await db
        .updateTable('runs')
        .set({ keeps_going: true })
        .where('id', '=', runId)
        .where('keeps_going', '=', false)
        .execute();
    },
    async delivered(runId) {
      await db
        .updateTable('runs')
        .set({ delivered_at: new Date() })
        .where('id', '=', runId)
        .where('delivered_at', 'is', null)
        .execute();
    },
    adopt: (task) =>
      db.transaction().execute(async (tx) => {
        // Callers with equal requests choose one after the other. The run's own transactions are waited for: a row
        // that is passed over because it is locked would be a run paid twice.
        const among = `${task.wallet} ${task.listing.id} ${task.digest.toString('hex')}`;
        await sql`select pg_advisory_xact_lock(hashtextextended(${among}, 0))`.execute(tx);
        const adopted = await tx
          .updateTable('runs')
          .set({ waiters: 1, left_at: null })
          .where('id', '=', (eb) =>
            eb
              .selectFrom('runs')
              .select('id')
              .where('wallet', '=', task.wallet)
              .where('listing_id', '=', task.listing.id)
              .where('request_digest', '=', task.digest)
              .where('status', '!=', 'undelivered')
              .where('stop_reason', 'is', null)
              .where('delivered_at', 'is', null)
              .where('left_at', '>=', new Date(Date.now() - ADOPTABLE_MS))
              .where((row) => row.or([row('status', '=', 'running'), row('output', 'is not', null)]))
              .orderBy('left_at')
              .limit(1)
              .forNoKeyUpdate(),
          )
          .returning('id')
          .executeTakeFirst();
        return adopted?.id;
      }),
  };
}
