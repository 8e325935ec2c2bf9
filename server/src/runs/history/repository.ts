import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { canonicalJson, type Json } from '@agent-rental/contract';
import { sql, type Selectable } from 'kysely';
import { seenBy, type Owner } from '../../access/owner.js';
import type { ApiError } from '../../errors/api-error.js';
import type { SealedPlace } from '../../database/sealed-places.js';
import type { Db } from '../../database/connection.js';
import type { Database } from '../../database/schema.js';
import type { Keys } from '../../platform/keys.js';
import type { FailureCause } from '../agents/outcome.js';
import { createBeginRun, storedKey, type Beginning, type StartedRun, type NewRun } from './begin-runs.js';
import { createEndRun, type RunResult } from './end-run.js';
import { createRunList, type RunList } from './run-list.js';

export type RunRow = Selectable<Database['runs']>;

/** The part of a receipt that the version gives. */
export type RanVersion = Pick<Selectable<Database['agent_versions']>, 'number' | 'change_kind'>;

/** A run that has ended. */
export interface FinishedRun {
  runId: string;
  agentId: string;
  status: 'completed' | 'failed';
  output: Json;
  costLamports: bigint;
  durationMs: number;
  /** The free run of a wallet without a rental. */
  isTrial?: boolean;
  /** Why it failed; not read back. */
  failure?: FailureCause;
}

/** Stores runs. Outputs are sealed: a dump of the database shows none. */
export interface RunRepository {
  /**
   * Writes a run down; undefined when the wallet has one under the same key already, or an equal one that it must look at.
   */
  begin(run: NewRun, how?: Beginning): Promise<StartedRun | undefined>;
  findByKey(owner: Owner, idempotencyKey: string): Promise<RunRow | undefined>;
  /** A run that this owner sees. */
  find(runId: string, owner: Owner): Promise<RunRow | undefined>;
  versionOf(versionId: string): Promise<RanVersion>;
  /** The runs that an owner sees, in pages. */
  readonly list: RunList;
  /** The result; undefined while the run goes on, when it was not delivered, and once its output was removed. */
  toFinished(row: RunRow): FinishedRun | undefined;
  /**
   * Records the end of a run, and counts it for its listing unless it was stopped. `salt` is the one it began with,
   * where the caller still has it.
   */
  finish(run: FinishedRun, salt?: Buffer): Promise<void>;
  /** Keeps a result that may not leave yet, because its charge is not confirmed. */
  hold(run: FinishedRun, salt?: Buffer): Promise<void>;
  /** Releases a held result; false when none was held. */
  finishHeld(runId: string): Promise<boolean>;
  /** Drops a held result, because its charge has failed. */
  dropHeld(runId: string, error: ApiError): Promise<void>;
  /**
   * Forgets a run that was refused before anything was charged. One whose id a caller knows stays, with the
   * error.
   */
  discard(runId: string, error: ApiError, failure?: FailureCause): Promise<void>;
  /**
   * Marks a run that its caller never got. Its idempotency key may be used again, unless the run was cancelled, once no
   * charge of it may land any more. Where no output has left, a record that it was about to is taken back: the run may be
   * credited.
   */
  markUndelivered(
    runId: string,
    error: ApiError,
    end: { outputHasLeft: boolean; failure?: FailureCause },
  ): Promise<void>;
  /** Lets the key of an undelivered run be used again, now that the end of its charge is known. Gives whether it may. */
  freeKey(runId: string): Promise<boolean>;
  /**
   * As `freeKey`, for a run whose charge has ended, with its credit if one is due. A process that ended in between may
   * have left the key.
   */
  freeSettledKey(runId: string): Promise<boolean>;
  /**
   * Puts on record that output of a run leaves before its end: it is never credited from then on.
   *
   * @throws Error when the run was not delivered, and so may be credited: none of its output may leave any more.
   */
  recordOutputLeft(runId: string): Promise<void>;
  wasUndelivered(runId: string): Promise<boolean>;
  /**
   * Marks runs whose process is gone: those without a live slot or place in a queue that began at least so long
   * ago. (A run gets one just after it begins.) Gives how many.
   */
  markInterrupted(minAgeMs: number): Promise<number>;
  /** As `markInterrupted`, for runs that nothing works on, whatever their slots. Gives the runs that were still running. */
  markLost(runIds: readonly string[]): Promise<string[]>;
  /** Asks a run that goes on to stop; false when it has ended, or was asked already. */
  requestStop(runId: string, reason: 'cancelled' | 'caller_left'): Promise<boolean>;
  /** As `requestStop`, for a run that no caller has waited for during `graceMs`, and that does not go on alone. */
  requestStopIfLeft(runId: string, graceMs: number): Promise<boolean>;
  /** Which of these runs are to stop. */
  stopRequests(runIds: string[]): Promise<{ id: string; reason: 'cancelled' | 'caller_left' }[]>;
  /** Refuses requests under a key from now on. */
  cancelKey(owner: Owner, idempotencyKey: string): Promise<void>;
  isKeyCancelled(owner: Owner, idempotencyKey: string): Promise<boolean>;
}

const LARGE_OUTPUT_BYTES = 32 * 1024;

/** Context under which an output is sealed. */
const outputContext = (runId: string) => `run-output:${runId}`;

/** Where the outputs of runs are sealed. */
export const SEALED_OUTPUTS: SealedPlace = {
  name: 'outputs',
  table: 'runs',
  id: ['id'],
  column: 'output',
  contextOf: ([id]) => outputContext(String(id)),
};

const INTERRUPTED = {
  code: 'service_unavailable',
  message: 'The server stopped while the run was under way. If it was charged, your next run is free.',
} as const;
const INTERRUPTED_STREAM = {
  code: 'service_unavailable',
  message:
    'The server stopped while the output of the run was being sent. The sent part counts as its output; it was charged.',
} as const;

const failureColumns = (failure: FailureCause | undefined) => ({
  failure_class: failure?.class ?? null,
  failure_http_status: failure?.httpStatus ?? null,
});

/** The digest of an output, as a receipt states it: SHA-256 over the salt and the canonical JSON. */
export function saltedDigest(salt: Buffer, value: unknown): Buffer {
  return createHash('sha256').update(salt).update(canonicalJson(value)).digest();
}

/** @param resultQuotaBytes the room for the results of a wallet, and of a listing */
export function createRunRepository(db: Db, keys: Keys, resultQuotaBytes?: number): RunRepository {
  const ofRunning = (runId: string) =>
    db.updateTable('runs').where('id', '=', runId).where('status', '=', 'running');

  /** Ends runs that nothing works on. A held result waits for its charge and needs no process. */
  const interrupting = () =>
    db
      .updateTable('runs')
      .set({
        ...undelivered(INTERRUPTED),
        error: sql<never>`case when output_left_at is null
            then ${JSON.stringify(INTERRUPTED)}::jsonb else ${JSON.stringify(INTERRUPTED_STREAM)}::jsonb end`,
      })
      .where('status', '=', 'running')
      .where('outcome', 'is', null);

  const withKeyFreed = (runId: string) =>
    db
      .updateTable('runs')
      .set({ idempotency_key: null })
      .where('id', '=', runId)
      .where('status', '=', 'undelivered')
      .where('idempotency_key', 'is not', null)
      .where(sql<boolean>`stop_reason is distinct from 'cancelled'`);

  /** The columns of an end without a result. */
  const undelivered = (
    error: { code: ApiError['code']; message: string },
    failure: FailureCause = { class: 'service_fault' },
  ) => ({
    status: 'undelivered' as const,
    ...failureColumns(failure),
    error: JSON.stringify({ code: error.code, message: error.message }) as never,
    outcome: null,
    output: null,
    output_digest: null,
    finished_at: new Date(),
    // A repeat must not be charged while the charge of this run may still land.
    idempotency_key: sql<string | null>`case when stop_reason = 'cancelled' or exists (
      select from charges where charges.run_id = runs.id and charges.state in ('signed', 'confirmed')
    ) then idempotency_key end`,
  });

  const ends = createEndRun(db, resultQuotaBytes);

  const sealedResult = async (run: FinishedRun, knownSalt: Buffer | undefined): Promise<RunResult> => {
    const salt = knownSalt ?? (await saltOf(run.runId));
    // A large output takes milliseconds to parse, to serialize and to sort: each has an iteration of the event loop.
    await setImmediate();
    const output = keys.seal(JSON.stringify(run.output), outputContext(run.runId));
    if (output.length > LARGE_OUTPUT_BYTES) await setImmediate();
    return {
      output,
      output_digest: saltedDigest(salt, run.output),
      cost_lamports: run.costLamports,
      duration_ms: run.durationMs,
      ...failureColumns(run.failure),
    };
  };

  async function saltOf(runId: string): Promise<Buffer> {
    const row = await db.selectFrom('runs').select('salt').where('id', '=', runId).executeTakeFirst();
    return row?.salt ?? Buffer.alloc(0);
  }

  return {
    begin: createBeginRun(db),
    list: createRunList(db),
    toFinished(row) {
      if (row.status !== 'completed' && row.status !== 'failed') return undefined;
      if (row.output === null) return undefined;
      return {
        runId: row.id,
        agentId: row.listing_id,
        status: row.status,
        output: JSON.parse(keys.open(row.output, outputContext(row.id)).toString('utf8')) as Json,
        costLamports: row.cost_lamports,
        durationMs: row.duration_ms ?? 0,
        ...(row.is_trial ? { isTrial: true } : {}),
      };
    },
    findByKey: (owner, idempotencyKey) =>
      db
        .selectFrom('runs')
        .selectAll()
        .where('wallet', '=', owner.wallet)
        .where('idempotency_key', '=', storedKey(owner, idempotencyKey))
        .executeTakeFirst(),
    find: (runId, owner) => {
      const [column, value] = seenBy(owner);
      return db
        .selectFrom('runs')
        .selectAll()
        .where('id', '=', runId)
        .where(column, '=', value)
        .executeTakeFirst();
    },
    versionOf: (versionId) =>
      db
        .selectFrom('agent_versions')
        .select(['number', 'change_kind'])
        .where('id', '=', versionId)
        .executeTakeFirstOrThrow(),

    async finish(run, salt) {
      const ended = await ends.withResult(run.runId, run.status, await sealedResult(run, salt));
      if (!ended) throw new Error(`Run ${run.runId} had ended already.`);
    },
    async hold(run, salt) {
      await ofRunning(run.runId)
        .set({ ...(await sealedResult(run, salt)), outcome: run.status })
        .execute();
    },
    finishHeld: (runId) => ends.asHeld(runId),

    async dropHeld(runId, error) {
      await ofRunning(runId).set(undelivered(error)).where('outcome', 'is not', null).execute();
    },

    async discard(runId, error, failure) {
      const forgotten = await db
        .deleteFrom('runs')
        .where('id', '=', runId)
        .where('status', '=', 'running')
        .where('keeps_going', '=', false)
        .where('left_at', 'is', null)
        .where('stop_reason', 'is', null)
        .executeTakeFirst();
      if (forgotten.numDeletedRows === 0n) await ofRunning(runId).set(undelivered(error, failure)).execute();
    },
    async markUndelivered(runId, error, { outputHasLeft, failure }) {
      await ofRunning(runId)
        .set({ ...undelivered(error, failure), ...(outputHasLeft ? {} : { output_left_at: null }) })
        .execute();
    },
    async freeKey(runId) {
      return (await withKeyFreed(runId).executeTakeFirst()).numUpdatedRows === 1n;
    },
    async freeSettledKey(runId) {
      const freed = await withKeyFreed(runId)
        .where(
          sql<boolean>`not exists (
            select from charges where charges.run_id = runs.id and (
              state in ('signed', 'confirmed')
              or state = 'finalized' and output_left_at is null and may_credit(charges.wallet, charges.listing_id)
                and not exists (select from credits where credits.run_id = charges.run_id)))`,
        )
        .executeTakeFirst();
      return freed.numUpdatedRows === 1n;
    },
    async recordOutputLeft(runId) {
      // The disk is not waited for: of a database that crashes, the server dies too, and its caller's stream with it.
      await db.transaction().execute(async (tx) => {
        await sql`set local synchronous_commit to off`.execute(tx);
        const recorded = await tx
          .updateTable('runs')
          .set({ output_left_at: sql<Date>`now()` })
          .where('id', '=', runId)
          .where('status', '!=', 'undelivered')
          .executeTakeFirst();
        if (recorded.numUpdatedRows === 0n) throw new Error(`Run ${runId} was not delivered.`);
      });
    },
    async wasUndelivered(runId) {
      const row = await db.selectFrom('runs').select('status').where('id', '=', runId).executeTakeFirst();
      return row?.status === 'undelivered';
    },
    async markInterrupted(minAgeMs) {
      const rows = await interrupting()
        .where('created_at', '<=', new Date(Date.now() - minAgeMs))
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('seats')
                .select('seats.run_id')
                .whereRef('seats.run_id', '=', 'runs.id')
                .where('seats.expires_at', '>', sql<Date>`now()`),
            ),
          ),
        )
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('seat_line')
                .select('seat_line.run_id')
                .whereRef('seat_line.run_id', '=', 'runs.id')
                .where('seat_line.expires_at', '>', sql<Date>`now()`),
            ),
          ),
        )
        .returning('id')
        .execute();
      return rows.length;
    },

    async markLost(runIds) {
      const rows = await interrupting()
        .where('id', 'in', [...runIds])
        .returning('id')
        .execute();
      return rows.map(({ id }) => id);
    },

    async requestStop(runId, reason) {
      const asked = await ofRunning(runId)
        .set({ stop_reason: reason })
        .where('stop_reason', 'is', null)
        .where('outcome', 'is', null)
        .executeTakeFirst();
      return asked.numUpdatedRows === 1n;
    },
    async requestStopIfLeft(runId, graceMs) {
      const asked = await ofRunning(runId)
        .set({ stop_reason: 'caller_left' })
        .where('stop_reason', 'is', null)
        .where('outcome', 'is', null)
        .where('keeps_going', '=', false)
        // By the database's clock, which set it; a timer of this process may be a little early.
        .where('left_at', '<=', sql<Date>`now() - make_interval(secs => ${graceMs / 1000 - 1})`)
        .executeTakeFirst();
      return asked.numUpdatedRows === 1n;
    },
    async stopRequests(runIds) {
      const rows = await db
        .selectFrom('runs')
        .select(['id', 'stop_reason'])
        .where('id', 'in', runIds)
        .where('stop_reason', 'is not', null)
        .execute();
      return rows.flatMap(({ id, stop_reason: reason }) => (reason === null ? [] : [{ id, reason }]));
    },
    async cancelKey(owner, idempotencyKey) {
      await db
        .insertInto('cancelled_keys')
        .values({ wallet: owner.wallet, idempotency_key: storedKey(owner, idempotencyKey) })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
    async isKeyCancelled(owner, idempotencyKey) {
      const found = await db
        .selectFrom('cancelled_keys')
        .select('created_at')
        .where('wallet', '=', owner.wallet)
        .where('idempotency_key', '=', storedKey(owner, idempotencyKey))
        .executeTakeFirst();
      return found !== undefined;
    },
  };
}
