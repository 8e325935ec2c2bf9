import { createHash } from 'node:crypto';
import { CompiledQuery, sql } from 'kysely';
import type { Db } from '../../database/connection.js';
import { prepare } from '../../database/prepared-statements.js';

/** An equal call is a retry only so long after the first: calls that begin together are meant as several. */
const RETRY_AFTER_SECONDS = 2;
/** An equal call after the end of a run is a retry where the run took at least so long: its caller may have given up. */
const LONG_RUN_SECONDS = 4;
/** ... and where the call comes this soon after that end, or after its answer was cut. */
const RETRY_WITHIN_SECONDS = 30;

/** How long after its answer a run's connection may be heard to have been cut: see `watchForCut`. */
const ANSWERED_SECONDS = 1;

/** Who calls, and in which session. */
export interface CallScope {
  /** Id of the API key, or the wallet. */
  readonly caller: string;
  /** Hash of the caller and the session; equal calls in it may be retries of each other. */
  readonly digest: Buffer;
}

/** An earlier run that a call repeats. */
interface RetriedRun {
  readonly runId: string;
  readonly isRunning: boolean;
}

/** What is known of a caller when it calls. */
export interface CallHistory {
  /** The run that this call repeats; undefined for a call of its own. */
  readonly retried: RetriedRun | undefined;
  /** An equal call of the session was answered within the last second: that its connection was cut may not be known yet. */
  readonly isJustAnswered: boolean;
  /** The caller has called again while a run went on, in the last day: it gives up after a few seconds. */
  readonly isImpatient: boolean;
}

/**
 * Recognises calls that repeat an earlier one: many clients call again after a timeout of a few seconds, under a new
 * idempotency key and without closing the first connection.
 */
export interface Retries {
  /**
   * Looks for the run that a request repeats.
   *
   * @param elapsedMs how long ago the request was received.
   */
  find(scope: CallScope, requestDigest: Buffer, elapsedMs: number): Promise<CallHistory>;
  /** Records that the caller called again while the run went on. */
  recordRetry(runId: string, caller: string): Promise<void>;
  /** Records that the answer of an ended run may not have been read; the next equal call of its scope gets it. */
  recordCut(runId: string): Promise<void>;
  /** Records that an ended run's answer is given to a call that repeats it. */
  recordTaken(runId: string): Promise<void>;
  isImpatient(caller: string): Promise<boolean>;
  /** Whether a run was told to stop. */
  isStopped(runId: string): Promise<boolean>;
}

const IS_IMPATIENT = `exists (
  select from runs where retried_by = $1 and retried_at >= now() - interval '1 day'
)`;

const FIND = prepare(`
  select retried.id, retried.status = 'running' as "isRunning", ${IS_IMPATIENT} as "isImpatient",
    exists (
      select from runs where call_scope = $2 and request_digest = $3
        and delivered_at >= now() - make_interval(secs => $4::float8 + ${ANSWERED_SECONDS})
    ) as "isJustAnswered"
  from (select) as one left join lateral (
    select id, status from runs
    where call_scope = $2 and request_digest = $3 and stop_reason is null
      and (
        status = 'running' and created_at <= now() - make_interval(secs => $4::float8 + ${RETRY_AFTER_SECONDS})
        or status in ('completed', 'failed') and output is not null and (
          answer_cut_at >= now() - make_interval(secs => $4::float8 + ${RETRY_WITHIN_SECONDS})
          or finished_at >= now() - make_interval(secs => $4::float8 + ${RETRY_WITHIN_SECONDS})
          and finished_at - created_at > interval '${LONG_RUN_SECONDS} seconds'
        )
      )
    order by created_at desc limit 1
  ) retried on true`);

/** Returns the scope of a caller's session. @param session empty: all calls of the caller are of one session. */
export function callScope(caller: string, session: string): CallScope {
  return {
    caller,
    digest: createHash('sha256')
      .update(JSON.stringify([caller, session]))
      .digest(),
  };
}

export function createRetries(db: Db): Retries {
  /** Cuts whose write is under way. A read waits for them, because a client calls again at once. */
  const pendingCuts = new Set<Promise<unknown>>();
  return {
    async find({ caller, digest }, requestDigest, elapsedMs) {
      if (pendingCuts.size > 0) await Promise.allSettled(pendingCuts);
      const { rows } = await db.executeQuery<{
        id: string | null;
        isRunning: boolean | null;
        isImpatient: boolean;
        isJustAnswered: boolean;
      }>(CompiledQuery.raw(FIND, [caller, digest, requestDigest, elapsedMs / 1_000]));
      const { id = null, isRunning = false, isImpatient = false, isJustAnswered = false } = rows[0] ?? {};
      const retried = id === null ? undefined : { runId: id, isRunning: isRunning === true };
      return { retried, isImpatient, isJustAnswered };
    },
    async recordRetry(runId, caller) {
      await db
        .updateTable('runs')
        .set({ retried_by: caller, retried_at: sql<Date>`now()` })
        .where('id', '=', runId)
        .execute();
    },
    async recordCut(runId) {
      const written = db
        .updateTable('runs')
        .set({ answer_cut_at: sql<Date>`now()` })
        .where('id', '=', runId)
        .execute();
      pendingCuts.add(written);
      try {
        await written;
      } finally {
        pendingCuts.delete(written);
      }
    },
    async recordTaken(runId) {
      await db
        .updateTable('runs')
        .set({ answer_cut_at: null })
        .where('id', '=', runId)
        .where('answer_cut_at', 'is not', null)
        .execute();
    },
    async isStopped(runId) {
      const row = await db
        .selectFrom('runs')
        .select('stop_reason')
        .where('id', '=', runId)
        .executeTakeFirst();
      return row !== undefined && row.stop_reason !== null;
    },
    async isImpatient(caller) {
      const { rows } = await db.executeQuery<{ isImpatient: boolean }>(
        CompiledQuery.raw(`select ${IS_IMPATIENT} as "isImpatient"`, [caller]),
      );
      return rows[0]?.isImpatient === true;
    },
  };
}
