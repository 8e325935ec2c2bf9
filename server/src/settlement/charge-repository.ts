import { isSequenceConsumed, sequenceState } from '@agent-rental/program-client';
import { sql, type Selectable } from 'kysely';
import { windowFromBytes } from '../credentials/index.js';
import { ApiError } from '../platform/api-error.js';
import type { Db } from '../platform/database/database.js';
import type { Database } from '../platform/database/schema.js';

export type ChargeRow = Selectable<Database['charges']>;
export type ChargeState = ChargeRow['state'];

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
   * Takes the price out of what the balance still has for open charges, and gives the charge its sequence.
   *
   * @throws ApiError `insufficient_balance`.
   */
  reserve(order: ChargeOrder): Promise<ChargeRow>;
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
  /** Uses up one credit for a new run; false when there is none. */
  takeCredit(wallet: string, listingId: string, runId: string): Promise<boolean>;
  /** Gives a used credit back, when the new run was not delivered either. */
  returnCredit(runId: string): Promise<void>;
}

/** The program keeps 256 sequences apart; a reservation must never fall out of that window while open. */
const WINDOW = 255n;

export function createChargeRepository(db: Db): ChargeRepository {
  return {
    reserve: (order) =>
      db.transaction().execute(async (tx) => {
        const balance = await tx
          .selectFrom('balances')
          .selectAll()
          .where('address', '=', order.balanceAddress)
          .forUpdate()
          .executeTakeFirst();
        if (!balance) throw insufficient(0n, order.priceLamports);
        const snapshot = {
          highestSequence: balance.highest_sequence,
          window: windowFromBytes(balance.window_bits),
        };
        // The newest of all, whatever its state, comes with those that are open.
        const { rows } = await sql<{ sequence: bigint; price_lamports: bigint; is_open: boolean }>`
          select sequence, price_lamports, true as is_open from charges
            where balance_address = ${order.balanceAddress} and state in ('reserved', 'signed', 'confirmed')
          union all
          (select sequence, price_lamports, false from charges
            where balance_address = ${order.balanceAddress} order by sequence desc limit 1)`.execute(tx);
        const open = rows.filter((charge) => charge.is_open);
        // A charge whose bit is set in this snapshot is already out of the snapshot's balance.
        const pending = open.filter((charge) => !isSequenceConsumed(snapshot, charge.sequence));
        const spoken = pending.reduce((sum, charge) => sum + charge.price_lamports, 0n);
        const available = balance.balance_lamports - spoken;
        if (available < order.priceLamports) throw insufficient(available, order.priceLamports);
        const highest = rows.reduce(
          (high, { sequence: used }) => (used > high ? used : high),
          snapshot.highestSequence,
        );
        const sequence = highest + 1n;
        const lowest = pending.reduce(
          (low, charge) => (charge.sequence < low ? charge.sequence : low),
          sequence,
        );
        if (sequence - lowest > WINDOW || sequenceState(snapshot, sequence) !== 'free') {
          throw new ApiError(
            'service_unavailable',
            'Too many charges of this rental are still open. Try again.',
            {
              retryAfterSeconds: 5,
            },
          );
        }
        return tx
          .insertInto('charges')
          .values({
            run_id: order.runId,
            wallet: order.wallet,
            listing_id: order.listingId,
            balance_address: order.balanceAddress,
            price_lamports: order.priceLamports,
            sequence,
            state: 'reserved',
          })
          .returningAll()
          .executeTakeFirstOrThrow();
      }),

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

    async takeCredit(wallet, listingId, runId) {
      const taken = await db
        .updateTable('credits')
        .set({ used_by_run_id: runId })
        .where('run_id', '=', (eb) =>
          eb
            .selectFrom('credits')
            .select('run_id')
            .where('wallet', '=', wallet)
            .where('listing_id', '=', listingId)
            .where('used_by_run_id', 'is', null)
            .orderBy('created_at')
            .limit(1)
            .forUpdate()
            .skipLocked(),
        )
        .executeTakeFirst();
      return taken.numUpdatedRows === 1n;
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

function insufficient(available: bigint, price: bigint): ApiError {
  return new ApiError(
    'insufficient_balance',
    `The prepaid balance has ${available} lamports left for new runs; one costs ${price}. Top it up.`,
  );
}
