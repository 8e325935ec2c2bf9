import { CompiledQuery, sql } from 'kysely';
import type { ChargeState } from '../database/charge-states.js';
import type { Db, Tx } from '../database/connection.js';
import { batchByKey } from '../database/batch-by-key.js';
import { prepare } from '../database/prepared-statements.js';
import type { SignedCharge } from './charge.js';
import { closeUndeliveredRuns, takeUndeliveredRuns } from './undelivered-runs.js';

const CONFIRM_CHARGES = prepare('select run_id, has_moved, is_released from confirm_charges($1, $2, $3)');
const SIGN_CHARGES = prepare('select run_id from sign_charges($1, $2, $3, $4) as run_id');

/**
 * The one writer of the states of charges, after `reserve_run_charges` made them. A charge only moves forward. The
 * statement of each transition checks the charge's state, so one replica makes it.
 */
export interface ChargeStates {
  /**
   * Writes down a transaction of one or more charges, in one statement, before it is sent. Gives the charges that have
   * ended or were given back: where there is one, nothing was written and the transaction must not be sent.
   */
  sign(runIds: readonly string[], signed: SignedCharge): Promise<string[]>;
  /**
   * A transaction of the charge has landed. Gives whether its output may leave now: else it waits for finality, because
   * with it the wallet's unfinalized charges would exceed the cap.
   *
   * @param isFinal no fork can take the transaction back. Confirmations that come together are one statement.
   */
  confirm(runId: string, isFinal?: boolean): Promise<boolean>;
  /**
   * Confirms charges that landed together, inside a transaction with other work. If that transaction ends without the
   * call, another transaction confirms the charges. Gives the runs whose output may leave now.
   *
   * @param isFinal no fork can take the transaction back
   * @param transaction calls its argument in its transaction
   * @throws the errors of `transaction`
   */
  confirmAlongside(
    runIds: readonly string[],
    isFinal: boolean,
    transaction: (confirm: (tx: Tx) => Promise<void>) => Promise<void>,
  ): Promise<ReadonlySet<string>>;
  /** Marks a charge that no fork can take back, and does the work that follows from it. */
  finalize(runId: string): Promise<void>;
  /**
   * Ends a charge that cannot land any more: `lost` when it was confirmed once, whose unused credit is withdrawn, else
   * `failed`. Undefined when it had ended already.
   *
   * @param failureCode the program's reason, where there is one.
   */
  end(runId: string, failureCode: number | undefined): Promise<'failed' | 'lost' | undefined>;
  /**
   * Takes a charge back from its end, because a final transaction of it was found. It is `finalized`, and the next round
   * credits an undelivered run.
   */
  recordTaken(runId: string): Promise<void>;
  /** Credits a finalized charge whose run was not delivered; the run keeps the state `finalized` where it may not have one. */
  credit(runId: string): Promise<void>;
  /** The same for the undelivered runs that are due, also runs of an ended process. */
  creditUndelivered(): Promise<void>;
  /** Deletes a charge that was never signed. */
  release(runId: string): Promise<void>;
  /** Deletes the charges that were never signed and whose run has ended or is gone. */
  releaseAbandoned(): Promise<void>;
}

/** Key of confirmations that are final. */
const FINAL = 'final';

interface ConfirmedRow {
  run_id: string;
  has_moved: boolean;
  is_released: boolean;
}

/** The settings of the writer of states. */
export interface ChargeStatesOptions {
  /** The most that the confirmed and not yet final charges of a wallet add up to whose output has left. */
  unfinalizedCapLamports: bigint;
  /** Is told of each state that a charge was brought into. */
  moved?: (state: ChargeState) => void;
}

export function createChargeStates(
  db: Db,
  { unfinalizedCapLamports, moved = () => undefined }: ChargeStatesOptions,
): ChargeStates {
  const confirmIn = async (on: Db, runIds: readonly string[], isFinal: boolean): Promise<ConfirmedRow[]> => {
    const values = [runIds, unfinalizedCapLamports, isFinal];
    return (await on.executeQuery<ConfirmedRow>(CompiledQuery.raw(CONFIRM_CHARGES, values))).rows;
  };
  /** Counts confirmed charges for good; gives the runs whose output may leave. */
  const releasedOf = (rows: readonly ConfirmedRow[]): ReadonlySet<string> => {
    rows.filter(({ has_moved: hasMoved }) => hasMoved).forEach(() => moved('confirmed'));
    return new Set(rows.filter((row) => row.is_released).map((row) => row.run_id));
  };
  /** Confirmations that come together share one statement, and one wait for the disk. */
  const confirmTogether = batchByKey<string, boolean>(async (key, runIds) => {
    const released = releasedOf(await confirmIn(db, runIds, key === FINAL));
    return runIds.map((id) => ({ value: released.has(id) }));
  });

  /** Charges that become final together share a statement, too. Rows are locked in one order, as by `confirm_charges`. */
  const finalizeTogether = batchByKey<string, undefined>(async (_, runIds) => {
    const { numAffectedRows } = await sql`
      with confirmed as materialized (
        select run_id from charges where run_id = any (${runIds}::uuid[]) and state = 'confirmed'
        order by run_id for update
      )
      update charges set state = 'finalized', updated_at = now()
      where run_id = any (array(select run_id from confirmed))`.execute(db);
    for (let left = Number(numAffectedRows ?? 0n); left > 0; left -= 1) moved('finalized');
    return runIds.map(() => ({ value: undefined }));
  });

  async function credit(runId: string): Promise<void> {
    const { numAffectedRows } = await sql`
      update charges set state = 'credited', updated_at = now()
      where run_id = ${runId} and state = 'finalized' and give_credit(run_id)`.execute(db);
    if (numAffectedRows === 1n) moved('credited');
  }

  return {
    async sign(runIds, { signature, signedBytes, lastValidBlockHeight }) {
      const { rows } = await db.executeQuery<{ run_id: string }>(
        CompiledQuery.raw(SIGN_CHARGES, [runIds, signature, signedBytes, lastValidBlockHeight]),
      );
      if (rows.length === 0) runIds.forEach(() => moved('signed'));
      return rows.map(({ run_id: id }) => id);
    },
    confirm: (runId, isFinal = false) => confirmTogether(isFinal ? FINAL : '', runId),
    async confirmAlongside(runIds, isFinal, transaction) {
      const confirmed: { rows?: ConfirmedRow[] } = {};
      await transaction(async (tx) => {
        confirmed.rows = await confirmIn(tx, runIds, isFinal);
      });
      return releasedOf(confirmed.rows ?? (await confirmIn(db, runIds, isFinal)));
    },
    finalize: (runId) => finalizeTogether('', runId),

    async end(runId, failureCode) {
      const { rows } = await sql<{ ended: 'failed' | 'lost' | null }>`
        select end_charge(${runId}, ${failureCode ?? null}) as ended`.execute(db);
      const ended = rows[0]?.ended ?? undefined;
      if (ended) moved(ended);
      return ended;
    },

    async recordTaken(runId) {
      const { numUpdatedRows } = await db
        .updateTable('charges')
        .set({ state: 'finalized', failure_code: null, updated_at: sql<Date>`now()` })
        .where('run_id', '=', runId)
        .where('state', 'in', ['failed', 'lost'])
        .executeTakeFirstOrThrow();
      if (numUpdatedRows === 1n) moved('finalized');
    },

    credit,
    async creditUndelivered() {
      const due = await takeUndeliveredRuns(db);
      if (due.length === 0) return;
      const owed = await db
        .selectFrom('charges')
        .select('run_id')
        .where('run_id', '=', sql<string>`any(${due}::uuid[])`)
        .where('state', '=', 'finalized')
        .where(sql<boolean>`may_credit(wallet, listing_id)`)
        .execute();
      for (const { run_id: runId } of owed) await credit(runId);
      await closeUndeliveredRuns(db, due);
    },

    async release(runId) {
      await db.deleteFrom('charges').where('run_id', '=', runId).where('state', '=', 'reserved').execute();
    },
    async releaseAbandoned() {
      // By the run's key for each reservation: a join may be planned as a scan of all runs.
      await db
        .deleteFrom('charges')
        .where('state', '=', 'reserved')
        .where(sql<boolean>`(select status from runs where id = charges.run_id) <> 'running'`)
        .execute();
    },
  };
}
