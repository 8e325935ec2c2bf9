import { sql } from 'kysely';
import type { Db } from '../database/connection.js';
import type {
  ChargeOrder,
  ChargeRow,
  ChargeState,
  OpenCharge,
  ReservedCharge,
  SignedCharge,
} from './charge.js';
import { createReservations } from './charge-reservations.js';

/** The one table of charges. A charge only ever moves forward through its states. */
export interface ChargeRepository {
  /**
   * Uses up a credit for the run, where there is one. Else takes the price out of what the balance still has for open
   * charges, and gives the charge its sequence.
   *
   * @throws ApiError `insufficient_balance`; `service_unavailable` when too many charges are open, or too many of the
   * last hour failed on-chain.
   */
  reserve(order: ChargeOrder): Promise<ReservedCharge | 'credited'>;
  /** The charge of a run. */
  find(runId: string): Promise<ChargeRow | undefined>;
  /** All transactions of a run's charge, oldest first. */
  signaturesOf(runId: string): Promise<string[]>;
  /** Whether a free run was given for this one. */
  wasCredited(runId: string): Promise<boolean>;
  /** Forgets a charge that was never signed. */
  releaseReservation(runId: string): Promise<void>;
  recordSignature(runId: string, signed: SignedCharge): Promise<void>;
  /** Moves a charge from one of `from` to `to`; false when it was not there any more. */
  move(runId: string, from: ChargeState[], to: ChargeState): Promise<boolean>;
  /** Ends a charge that will never take the money; false when it was not signed or confirmed any more. */
  end(runId: string, end: { state: 'failed' | 'lost'; failureCode?: number | undefined }): Promise<boolean>;
  /**
   * Takes charges whose end is not known and whose next attempt is due, those that have waited longest first. No other
   * replica gets them before their next attempt, which comes later each time: after 2 s, 4 s and so on, at most 64 s.
   */
  takeDue(limit: number): Promise<OpenCharge[]>;
  /** Makes the next attempt of every charge whose end is not known due now. */
  makeAllDue(): Promise<void>;
  /** Removes reservations whose run is over or gone. */
  releaseAbandoned(): Promise<void>;
  /**
   * Gives one free run for a run that was paid and not delivered; once per run, and a bounded number of times a day for
   * each wallet and listing. Gives whether the run has a credit now; a run of which output has left never has one.
   */
  credit(runId: string): Promise<boolean>;
  /**
   * Credits what a process left behind that ended before it could: a free run for each finalized charge of a run
   * that was not delivered, and the credits that such runs had used.
   */
  creditUndelivered(): Promise<void>;
  hasCredit(wallet: string, listingId: string): Promise<boolean>;
  /** Gives a used credit back, when the new run was not delivered either and no output of it has left. */
  returnCredit(runId: string): Promise<void>;
}

export function createChargeRepository(db: Db): ChargeRepository {
  const reserve = createReservations(db);
  return {
    reserve,

    find: (runId) => db.selectFrom('charges').selectAll().where('run_id', '=', runId).executeTakeFirst(),

    async signaturesOf(runId) {
      const rows = await db
        .selectFrom('charge_signatures')
        .select('signature')
        .where('run_id', '=', runId)
        .orderBy('created_at')
        .execute();
      return rows.map(({ signature }) => signature);
    },
    async wasCredited(runId) {
      const row = await db
        .selectFrom('credits')
        .select('run_id')
        .where('run_id', '=', runId)
        .executeTakeFirst();
      return row !== undefined;
    },

    async releaseReservation(runId) {
      await db.deleteFrom('charges').where('run_id', '=', runId).where('state', '=', 'reserved').execute();
    },

    async recordSignature(runId, signed) {
      // Both in one statement: the run waits for it.
      await sql`
        with signature as (
          insert into charge_signatures (signature, run_id, wire, last_valid_block_height)
          values (${signed.signature}, ${runId}, ${signed.wire}, ${signed.lastValidBlockHeight})
        )
        update charges set state = 'signed', updated_at = now(), attempts = 0
        where run_id = ${runId} and state in ('reserved', 'signed', 'confirmed')`.execute(db);
    },

    async move(runId, from, to) {
      const moved = await db
        .updateTable('charges')
        .set({ state: to, updated_at: new Date() })
        .where('run_id', '=', runId)
        .where('state', 'in', from)
        .executeTakeFirst();
      return moved.numUpdatedRows === 1n;
    },

    async end(runId, { state, failureCode }) {
      const ended = await db
        .updateTable('charges')
        .set({ state, failure_code: failureCode ?? null, updated_at: new Date() })
        .where('run_id', '=', runId)
        .where('state', 'in', ['signed', 'confirmed'])
        .executeTakeFirst();
      return ended.numUpdatedRows === 1n;
    },

    async makeAllDue() {
      await db
        .updateTable('charges')
        .set({ next_attempt_at: sql<Date>`now()` })
        .where('state', 'in', ['signed', 'confirmed'])
        .where('next_attempt_at', '>', sql<Date>`now()`)
        .execute();
    },

    async takeDue(limit) {
      const charges = await db
        .updateTable('charges')
        .set({
          next_attempt_at: sql<Date>`now() + make_interval(secs => 2 * 2 ^ least(attempts, 5))`,
          attempts: sql`attempts + 1`,
        })
        .where('run_id', 'in', (eb) =>
          eb
            .selectFrom('charges')
            .select('run_id')
            .where('state', 'in', ['signed', 'confirmed'])
            .where('next_attempt_at', '<=', sql<Date>`now()`)
            .orderBy('next_attempt_at')
            .limit(limit)
            .forUpdate()
            .skipLocked(),
        )
        .returningAll()
        .execute();
      if (charges.length === 0) return [];
      const signatures = await db
        .selectFrom('charge_signatures')
        .selectAll()
        .where(
          'run_id',
          'in',
          charges.map((charge) => charge.run_id),
        )
        .orderBy('created_at')
        .execute();
      return charges.map((charge) => ({
        charge,
        signatures: signatures
          .filter((row) => row.run_id === charge.run_id)
          .map((row) => ({
            signature: row.signature,
            wire: row.wire,
            lastValidBlockHeight: row.last_valid_block_height,
          })),
      }));
    },

    async releaseAbandoned() {
      await db
        .deleteFrom('charges')
        .where('state', '=', 'reserved')
        .where('run_id', 'in', (eb) => eb.selectFrom('runs').select('id').where('status', '!=', 'running'))
        .execute();
    },

    async credit(runId) {
      const { rows } = await sql<{ given: boolean }>`select give_credit(${runId}) as given`.execute(db);
      return rows[0]?.given === true;
    },

    async creditUndelivered() {
      const owed = await db
        .selectFrom('charges')
        .innerJoin('runs', 'runs.id', 'charges.run_id')
        .where('runs.status', '=', 'undelivered')
        .where('runs.output_left_at', 'is', null)
        .where('charges.state', '=', 'finalized')
        .where(sql<boolean>`may_credit(charges.wallet, charges.listing_id)`)
        .select('charges.run_id')
        .limit(1_000)
        .execute();
      for (const { run_id: runId } of owed) {
        await sql`
          update charges set state = 'credited', updated_at = now()
          where run_id = ${runId} and state = 'finalized' and give_credit(run_id)`.execute(db);
      }
      await sql`
        update credits set used_by_run_id = null from runs
        where runs.id = credits.used_by_run_id and runs.status = 'undelivered'
          and runs.output_left_at is null`.execute(db);
    },

    async hasCredit(wallet, listingId) {
      const found = await db
        .selectFrom('credits')
        .select('run_id')
        .where('wallet', '=', wallet)
        .where('listing_id', '=', listingId)
        .where('used_by_run_id', 'is', null)
        .limit(1)
        .executeTakeFirst();
      return found !== undefined;
    },

    async returnCredit(runId) {
      await sql`
        update credits set used_by_run_id = null
        where used_by_run_id = ${runId}
          and not exists (select from runs where id = ${runId} and output_left_at is not null)`.execute(db);
    },
  };
}
