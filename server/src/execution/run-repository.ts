import type { Json } from '@agent-rental/contract';
import { sql, type Selectable } from 'kysely';
import type { Db } from '../platform/database/database.js';
import type { Database } from '../platform/database/schema.js';
import type { Keys } from '../platform/keys.js';

export type RunRow = Selectable<Database['runs']>;

/** A run that has ended. */
export interface FinishedRun {
  runId: string;
  agentId: string;
  status: 'completed' | 'failed';
  output: Json;
  costLamports: bigint;
  durationMs: number;
}

/** A run about to begin. */
export interface NewRun {
  id: string;
  listingId: string;
  versionId: string;
  wallet: string;
  idempotencyKey: string | undefined;
  requestDigest: Buffer;
}

/** Stores runs. Outputs are sealed: a dump of the database shows none. */
export interface RunRepository {
  /** Writes a run down; false when the wallet has one under the same idempotency key already. */
  begin(run: NewRun): Promise<boolean>;
  findByKey(wallet: string, idempotencyKey: string): Promise<RunRow | undefined>;
  /** A finished run of this wallet. */
  find(runId: string, wallet: string): Promise<FinishedRun | undefined>;
  toFinished(row: RunRow): FinishedRun | undefined;
  /** Records the end of a run, and counts it for its listing. */
  finish(run: FinishedRun): Promise<void>;
  /** Forgets a run that was refused before anything was charged. */
  discard(runId: string): Promise<void>;
  /** Marks a run that its caller never got, by our fault; its idempotency key may be used again. */
  markUndelivered(runId: string): Promise<void>;
  wasUndelivered(runId: string): Promise<boolean>;
  /**
   * Marks runs whose process is gone: those without a live seat that began at least so long ago. (A run gets its
   * seat just after it begins.) Gives how many.
   */
  markInterrupted(minAgeMs: number): Promise<number>;
}

const outputContext = (runId: string) => `run-output:${runId}`;

export function createRunRepository(db: Db, keys: Keys): RunRepository {
  const toFinished = (row: RunRow): FinishedRun | undefined => {
    if (row.status !== 'completed' && row.status !== 'failed') return undefined;
    if (row.output === null) return undefined;
    return {
      runId: row.id,
      agentId: row.listing_id,
      status: row.status,
      output: JSON.parse(keys.open(row.output, outputContext(row.id)).toString('utf8')) as Json,
      costLamports: row.cost_lamports,
      durationMs: row.duration_ms ?? 0,
    };
  };
  return {
    toFinished,
    async begin(run) {
      const inserted = await db
        .insertInto('runs')
        .values({
          id: run.id,
          listing_id: run.listingId,
          version_id: run.versionId,
          wallet: run.wallet,
          status: 'running',
          idempotency_key: run.idempotencyKey ?? null,
          request_digest: run.requestDigest,
          duration_ms: null,
          output: null,
          finished_at: null,
        })
        .onConflict((conflict) => conflict.columns(['wallet', 'idempotency_key']).doNothing())
        .executeTakeFirst();
      return inserted.numInsertedOrUpdatedRows === 1n;
    },
    findByKey: (wallet, idempotencyKey) =>
      db
        .selectFrom('runs')
        .selectAll()
        .where('wallet', '=', wallet)
        .where('idempotency_key', '=', idempotencyKey)
        .executeTakeFirst(),
    async find(runId, wallet) {
      const row = await db
        .selectFrom('runs')
        .selectAll()
        .where('id', '=', runId)
        .where('wallet', '=', wallet)
        .executeTakeFirst();
      return row && toFinished(row);
    },
    finish: (run) =>
      db.transaction().execute(async (tx) => {
        const finished = await tx
          .updateTable('runs')
          .set({
            status: run.status,
            output: keys.seal(JSON.stringify(run.output), outputContext(run.runId)),
            cost_lamports: run.costLamports,
            duration_ms: run.durationMs,
            finished_at: new Date(),
          })
          .where('id', '=', run.runId)
          .where('status', '=', 'running')
          .executeTakeFirst();
        if (finished.numUpdatedRows !== 1n) throw new Error(`Run ${run.runId} had ended already.`);
        await tx
          .updateTable('listings')
          .set({
            run_count: sql`run_count + 1`,
            completed_count: sql`completed_count + ${run.status === 'completed' ? 1 : 0}`,
          })
          .where('id', '=', run.agentId)
          .execute();
      }),
    async discard(runId) {
      await db.deleteFrom('runs').where('id', '=', runId).where('status', '=', 'running').execute();
    },
    async markUndelivered(runId) {
      await db
        .updateTable('runs')
        .set({ status: 'undelivered', idempotency_key: null, finished_at: new Date() })
        .where('id', '=', runId)
        .where('status', '=', 'running')
        .execute();
    },
    async wasUndelivered(runId) {
      const row = await db.selectFrom('runs').select('status').where('id', '=', runId).executeTakeFirst();
      return row?.status === 'undelivered';
    },
    async markInterrupted(minAgeMs) {
      const rows = await db
        .updateTable('runs')
        .set({ status: 'undelivered', idempotency_key: null, finished_at: new Date() })
        .where('status', '=', 'running')
        .where('created_at', '<=', new Date(Date.now() - minAgeMs))
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('seats')
                .select('seats.run_id')
                .whereRef('seats.run_id', '=', 'runs.id')
                .where('seats.expires_at', '>', new Date()),
            ),
          ),
        )
        .returning('id')
        .execute();
      return rows.length;
    },
  };
}
