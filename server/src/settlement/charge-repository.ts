import { sql, type Selectable } from 'kysely';
import type { Db } from '../database/connection.js';
import type { Database } from '../database/schema.js';
import { createReservations } from './charge-reservations.js';

export type ChargeRow = Selectable<Database['charges']>;
export type ChargeState = ChargeRow['state'];

/** What a charge's transaction is made of. */
export type Charge = Omit<ChargeRow, 'state' | 'created_at' | 'updated_at'>;

/** What is charged to whom. */
export interface ChargeOrder {
  runId: string;
  wallet: string;
  listingId: string;
  balanceAddress: string;
  priceLamports: bigint;
}

/** A signed transaction of a charge, as written down before it is sent. */
export interface SignedCharge {
  signature: string;
  wire: Buffer;
  lastValidBlockHeight: bigint;
}

/** The one table of charges. A charge only ever moves forward through its states. */
export interface ChargeRepository {
  /**
   * Uses up a credit for the run, where there is one. Else takes the price out of what the balance still has for open
   * charges, and gives the charge its sequence.
   *
   * @throws ApiError `insufficient_balance`; `service_unavailable` when too many charges are open.
   */
  reserve(order: ChargeOrder): Promise<Charge | 'credited'>;
  /** The charge of a run. */
  find(runId: string): Promise<ChargeRow | undefined>;
  /** All transactions of a run's charge, oldest first. */
  signaturesOf(runId: string): Promise<string[]>;
  /** Whether a free run was given for this one. */
  wasCredited(runId: string): Promise<boolean>;
  /** Forgets a charge that was never signed. */
  release(runId: string): Promise<void>;
  recordSignature(runId: string, signed: SignedCharge): Promise<void>;
  /** Moves a charge from one of `from` to `to`; false when it was not there any more. */
  move(runId: string, from: ChargeState[], to: ChargeState): Promise<boolean>;
  /** Charges whose end is not yet known, with all their signatures, oldest first. */
  open(limit: number): Promise<{ charge: ChargeRow; signatures: SignedCharge[] }[]>;
  /** Removes reservations whose run is over or gone. */
  releaseAbandoned(): Promise<void>;
  /** Gives one free run for a run that was paid and not delivered; once per run. */
  credit(runId: string): Promise<void>;
  /**
   * Makes good what a process left behind that ended before it could: a free run for each finalized charge of a run
   * that was not delivered, and the credits that such runs had used.
   */
  makeGood(): Promise<void>;
  hasCredit(wallet: string, listingId: string): Promise<boolean>;
  /** Gives a used credit back, when the new run was not delivered either. */
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

    async release(runId) {
      await db.deleteFrom('charges').where('run_id', '=', runId).where('state', '=', 'reserved').execute();
    },

    async recordSignature(runId, signed) {
      // Both in one statement: the run waits for it.
      await sql`
        with signature as (
          insert into charge_signatures (signature, run_id, wire, last_valid_block_height)
          values (${signed.signature}, ${runId}, ${signed.wire}, ${signed.lastValidBlockHeight})
        )
        update charges set state = 'signed', updated_at = now()
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

    async open(limit) {
      const charges = await db
        .selectFrom('charges')
        .selectAll()
        .where('state', 'in', ['signed', 'confirmed'])
        .orderBy('created_at')
        .limit(limit)
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
      await db
        .insertInto('credits')
        .columns(['run_id', 'wallet', 'listing_id'])
        .expression((eb) =>
          eb.selectFrom('charges').select(['run_id', 'wallet', 'listing_id']).where('run_id', '=', runId),
        )
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },

    async makeGood() {
      await sql`
        with owed as (
          update charges set state = 'credited', updated_at = now() from runs
          where runs.id = charges.run_id and runs.status = 'undelivered' and charges.state = 'finalized'
          returning charges.run_id, charges.wallet, charges.listing_id
        )
        insert into credits (run_id, wallet, listing_id) select * from owed on conflict do nothing`.execute(
        db,
      );
      await sql`
        update credits set used_by_run_id = null from runs
        where runs.id = credits.used_by_run_id and runs.status = 'undelivered'`.execute(db);
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
      await db
        .updateTable('credits')
        .set({ used_by_run_id: null })
        .where('used_by_run_id', '=', runId)
        .execute();
    },
  };
}
