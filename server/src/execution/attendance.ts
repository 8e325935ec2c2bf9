import { sql } from 'kysely';
import type { Db } from '../platform/database/database.js';
import type { Task } from './parse.js';

/** A run whose answer reached nobody may be taken over for this long after its last caller left. */
const ADOPTABLE_MS = 10 * 60_000;
/** An answer that was not noted as delivered or lost for so long never will be: its server is gone. */
const DELIVERY_MS = 60_000;

/** What has become of the callers of equal runs whose answer has not reached anybody. */
export interface EqualRuns {
  /** One was left, and may be taken over. */
  readonly isLeft: boolean;
  /** Somebody seems to wait for one, or for its answer, which is on its way. */
  readonly isAttended: boolean;
}

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
  /** Looks for equal runs of the same wallet, and touches none. */
  look(task: Task): Promise<EqualRuns>;
  /**
   * Begins a run, alone among the callers with equal requests, unless there is one that may be taken over, or, while
   * `isPatient`, one that somebody seems to wait for. Undefined: there is.
   */
  beginAlone<T>(task: Task, isPatient: boolean, begin: (db: Db) => Promise<T>): Promise<T | undefined>;
}

export function createAttendance(db: Db): Attendance {
  /** Runs of equal requests whose answer has not reached anybody. */
  const equal = (on: Db, { wallet, listing, digest }: Task) =>
    on
      .selectFrom('runs')
      .select('id')
      .where('wallet', '=', wallet)
      .where('listing_id', '=', listing.id)
      .where('request_digest', '=', digest)
      .where('status', '!=', 'undelivered')
      .where('stop_reason', 'is', null)
      .where('delivered_at', 'is', null);
  const left = (on: Db, task: Task) =>
    equal(on, task)
      .where('left_at', '>=', new Date(Date.now() - ADOPTABLE_MS))
      .where((row) => row.or([row('status', '=', 'running'), row('output', 'is not', null)]));
  const attended = (on: Db, task: Task) =>
    equal(on, task)
      .where('left_at', 'is', null)
      .where((row) =>
        row.or([row('status', '=', 'running'), row('finished_at', '>=', new Date(Date.now() - DELIVERY_MS))]),
      );
  /**
   * Callers with equal requests choose one after the other. The run's own transactions are waited for: a row that is
   * passed over because it is locked would be a run paid twice.
   */
  const inTurn = <T>(task: Task, choose: (tx: Db) => Promise<T>): Promise<T> =>
    db.transaction().execute(async (tx) => {
      const among = `${task.wallet} ${task.listing.id} ${task.digest.toString('hex')}`;
      await sql`select pg_advisory_xact_lock(hashtextextended(${among}, 0))`.execute(tx);
      return choose(tx);
    });
  const look = async (on: Db, task: Task): Promise<EqualRuns> => {
    const { isLeft, isAttended } = await on
      .selectNoFrom(({ exists }) => [
        exists(left(on, task)).as('isLeft'),
        exists(attended(on, task)).as('isAttended'),
      ])
      .executeTakeFirstOrThrow();
    return { isLeft: isLeft === true, isAttended: isAttended === true };
  };

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
      inTurn(task, async (tx) => {
        const adopted = await tx
          .updateTable('runs')
          .set({ waiters: 1, left_at: null })
          .where('id', '=', left(tx, task).orderBy('left_at').limit(1).forNoKeyUpdate())
          .returning('id')
          .executeTakeFirst();
        return adopted?.id;
      }),
    look: (task) => look(db, task),
    beginAlone: (task, isPatient, begin) =>
      inTurn(task, async (tx) => {
        const { isLeft, isAttended } = await look(tx, task);
        return isLeft || (isPatient && isAttended) ? undefined : begin(tx);
      }),
  };
}
