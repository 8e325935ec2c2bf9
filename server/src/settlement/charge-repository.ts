import { sql } from 'kysely';
import type { Db } from '../database/connection.js';
import type { ChargeOrder, ChargeRow, OpenCharge, ReservedCharge } from './charge.js';
import { createReservations } from './charge-reservations.js';

/** Reserves and reads charges, and tells which are due; `ChargeStates` moves them on. */
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
  /**
   * Claims open charges whose next attempt is due, the oldest first. No other replica gets them before their next attempt,
   * whose delay doubles from 2 s up to 64 s.
   */
  takeDue(limit: number): Promise<OpenCharge[]>;
  /** Makes the next attempt of every open charge due now. */
  makeAllDue(): Promise<void>;
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
  };
}
