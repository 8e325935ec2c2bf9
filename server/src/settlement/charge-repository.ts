import { sql, type NotNull } from 'kysely';
import type { Db } from '../database/connection.js';
import type { ChargeOrder, ChargeRow, OpenCharge, ReservedCharge, SignedCharge } from './charge.js';
import { createReservations } from './charge-reservations.js';
import { makeUndeliveredRunsDue } from './undelivered-runs.js';

/** Reserves and reads charges, and tells which are due; `ChargeStates` moves them on. */
export interface ChargeRepository {
  /**
   * Uses up a credit for the run, where there is one. Else takes the price out of the amount that the balance still has for open
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
  /** Makes the next attempt of every open charge, and of every undelivered run, due now. */
  makeAllDue(): Promise<void>;
  /** The runs that a payment changes: runs whose result waits for it, and runs that were not delivered. */
  runsWaiting(runIds: readonly string[]): Promise<string[]>;
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
      await makeUndeliveredRunsDue(db);
    },

    async runsWaiting(runIds) {
      const rows = await db
        .selectFrom('runs')
        .select('id')
        .where('id', '=', sql<string>`any(${[...runIds]}::uuid[])`)
        .where(sql<boolean>`(status = 'undelivered' or status = 'running' and outcome is not null)`)
        .execute();
      return rows.map(({ id }) => id);
    },

    async takeDue(limit) {
      const charges = await db
        .updateTable('charges')
        .set({
          next_attempt_at: sql<Date>`now() + make_interval(secs => 2 * 2 ^ least(attempts, 5))`,
          attempts: sql`attempts + 1`,
        })
        // An array subquery runs once; the planner may run a join or an IN subquery for each row.
        .where(
          'run_id',
          '=',
          sql<string>`any (array(
            select run_id from charges
            where state in ('signed', 'confirmed') and next_attempt_at <= now()
            order by next_attempt_at limit ${limit} for update skip locked))`,
        )
        .returningAll()
        .execute();
      if (charges.length === 0) return [];
      const signatures = await db
        .selectFrom('charge_signatures')
        .selectAll()
        .where('run_id', '=', sql<string>`any(${charges.map((charge) => charge.run_id)}::uuid[])`)
        // The bytes are dropped at the end of a charge alone.
        .$narrowType<{ signed_bytes: NotNull }>()
        .orderBy('created_at')
        .execute();
      const ofRun = new Map<string, SignedCharge[]>(charges.map((charge) => [charge.run_id, []]));
      for (const each of signatures) {
        ofRun.get(each.run_id)?.push({
          signature: each.signature,
          signedBytes: each.signed_bytes,
          lastValidBlockHeight: each.last_valid_block_height,
        });
      }
      return charges.map((charge) => ({ charge, signatures: ofRun.get(charge.run_id) ?? [] }));
    },
  };
}
