import { CompiledQuery, sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import { batchByKey } from '../../database/batch-by-key.js';
import { prepare } from '../../database/prepared-statements.js';
import type { Order } from '../pipeline/parse.js';

/** Whether undelivered equal runs have callers. */
export interface EqualRuns {
  /** At least one has no caller, and may be adopted. */
  readonly isLeft: boolean;
  /** One has a caller that waits for it, or for its answer, which is being sent. */
  readonly hasCaller: boolean;
  /** One such run began more than `TOGETHER_SECONDS` ago: an equal request may be its retry. */
  readonly hasOldCaller: boolean;
}

/** Counts the callers that wait for a run, of all replicas, and records whether its answer has reached one of them. */
export interface DeliveryTracking {
  /** One more caller waits. */
  arrive(runId: string): Promise<void>;
  /** One caller has left without the answer. `keepsGoing`: the run goes on without a caller. */
  leave(runId: string, keepsGoing: boolean): Promise<void>;
  /** A caller has asked for the run: it goes on. */
  keepGoing(runId: string): Promise<void>;
  /** An answer has reached a caller. */
  delivered(runId: string): Promise<void>;
  /**
   * Gives the caller of `order` an equal undelivered run of the same wallet; the one that was left
   * first. No other caller gets it while this one waits.
   */
  adopt(order: Order): Promise<string | undefined>;
  /** Records that no caller waits for an answer any more. For the start of a server that has no other replica. */
  leaveAll(): Promise<void>;
  /** Looks for equal runs of the same wallet, and touches none. */
  findEqualRuns(order: Order): Promise<EqualRuns>;
}

/**
 * Equal calls that begin within this time count as separate calls, because a model sends its calls at once. Of an equal call
 * that comes later, a retry is the likelier reason; from 2 s on, calls of one session count as retries.
 */
const TOGETHER_SECONDS = 0.5;

const FIND_EQUAL_RUNS = prepare(`
  select bool_or(left_at is not null) as "isLeft", bool_or(left_at is null) as "hasCaller",
    bool_or(left_at is null and created_at <= now() - interval '${TOGETHER_SECONDS} seconds') as "hasOldCaller"
  from unheard_runs
  where wallet = $1 and listing_id = $2 and request_digest = $3`);

// `coalesce` keeps the planner from the partial index of unheard runs, which has a dead entry for each recent run.
const DELIVERED = prepare(`
  update runs set delivered_at = now() where id = any ($1::uuid[]) and coalesce(delivered_at, 'infinity') = 'infinity'`);

export function createDeliveryTracking(db: Db): DeliveryTracking {
  /** Deliveries that come together are one statement. No other transaction locks several ended runs. */
  const deliverTogether = batchByKey<string, void>(async (_, runIds) => {
    await db.executeQuery(CompiledQuery.raw(DELIVERED, [runIds]));
    return runIds.map(() => ({ value: undefined }));
  });

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
    delivered: (runId) => deliverTogether('', runId),
    async adopt({ wallet, agentId, digest }) {
      const { rows } = await sql<{ adopted: string | null }>`
        select adopt_run(${wallet}, ${agentId}, ${digest}) as adopted`.execute(db);
      return rows[0]?.adopted ?? undefined;
    },
    async leaveAll() {
      await sql`
        update runs set waiters = 0, left_at = now()
        where id in (select id from unheard_runs where left_at is null)`.execute(db);
    },
    async findEqualRuns({ wallet, agentId, digest }) {
      const { rows } = await db.executeQuery<EqualRuns>(
        CompiledQuery.raw(FIND_EQUAL_RUNS, [wallet, agentId, digest]),
      );
      const [found] = rows;
      return {
        isLeft: found?.isLeft === true,
        hasCaller: found?.hasCaller === true,
        hasOldCaller: found?.hasOldCaller === true,
      };
    },
  };
}
