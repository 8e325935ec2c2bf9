import { sql } from 'kysely';
import type { Db } from '../database/connection.js';
import type { NewPayment, Payment, Transfer } from './payment.js';

/** Failed payments took nothing, and are kept this long for questions. */
const FAILED_KEPT = sql<Date>`now() - interval '7 days'`;

/** The record of payments. Each change names the state before it, so that two processes may work on one payment. */
export interface PaymentRepository {
  find(signature: string): Promise<Payment | undefined>;
  /** The payment in USDC that paid a challenge. */
  findByChallenge(challengeId: string): Promise<Payment | undefined>;
  /**
   * Records a payment before its transaction is sent. One that is recorded already stays as it is.
   *
   * @returns the signature of the recorded one: of this, or of the one that paid the same challenge or has the same
   *   identifier. Undefined for USDC beyond the float.
   */
  receive(payment: NewPayment): Promise<string | undefined>;
  /** Lamports of the payments that the till has yet to pass on, and that it gave for USDC within 24 hours. */
  committed(): Promise<{ openLamports: bigint; givenLamports: bigint }>;
  /** The till has the money. */
  land(signature: string): Promise<void>;
  /** The payment never lands, and neither does `dead`, its transfer where it has one. */
  fail(signature: string, dead: string | null): Promise<void>;
  /**
   * Records the transfer before it is sent, in place of `dead`, which can never land.
   *
   * @returns false while another transfer into the same balance is on its way, or another process was first
   */
  beginTransfer(signature: string, transfer: Transfer, dead: string | null): Promise<boolean>;
  /** The transfer has landed. */
  endTransfer(signature: string, transferSignature: string): Promise<void>;
  /** A fork took the payment back for good, after the transfer. */
  lose(signature: string): Promise<void>;
  /** A fork took the transfer back. */
  reopenTransfer(signature: string, transferSignature: string): Promise<void>;
  /** Nothing can take either transaction back. */
  finish(signature: string): Promise<void>;
  /** Claims open payments whose next attempt is due, the oldest first. */
  takeDue(limit: number): Promise<Payment[]>;
}

/** The violation of a unique index. */
const UNIQUE_VIOLATION = '23505';

/**
 * Makes the record.
 *
 * @param usdcFloatLamports the most that is given for USDC within 24 hours
 */
export function createPaymentRepository(db: Db, usdcFloatLamports = 0n): PaymentRepository {
  const change = (signature: string) =>
    db
      .updateTable('payments')
      .set({ updated_at: sql<Date>`now()` })
      .where('signature', '=', signature);

  const paidInUsdc = (challengeId: string) =>
    db
      .selectFrom('payments')
      .selectAll()
      .where('challenge_id', '=', challengeId)
      .where('units', 'is not', null);

  return {
    find: (signature) =>
      db.selectFrom('payments').selectAll().where('signature', '=', signature).executeTakeFirst(),

    findByChallenge: (challengeId) => paidInUsdc(challengeId).executeTakeFirst(),

    async receive(payment) {
      if (payment.units === null) {
        await insert(db, payment);
        return payment.signature;
      }
      const { challenge_id: challengeId, wallet, listing_id, identifier } = payment;
      // One after another: payments at once share the rest of the float.
      return db.transaction().execute(async (tx) => {
        await sql`select pg_advisory_xact_lock(hashtextextended('payments in usdc', 0))`.execute(tx);
        const [known] = await tx
          .selectFrom('payments')
          .select('signature')
          .where((where) =>
            where.or([
              where.and([where('challenge_id', '=', challengeId), where('units', 'is not', null)]),
              ...(identifier === null
                ? []
                : [
                    where.and([
                      where.and({ wallet, listing_id, identifier }),
                      where('state', '<>', 'failed'),
                    ]),
                  ]),
            ]),
          )
          .execute();
        if (known) return known.signature;
        const given = await givenForUsdc(tx);
        if (given + payment.lamports > usdcFloatLamports) return undefined;
        await insert(tx, payment);
        return payment.signature;
      });
    },

    async committed() {
      const { rows } = await sql<{
        open: bigint;
      }>`select coalesce(sum(lamports), 0)::bigint as open from payments
        where not is_final and state in ('received', 'landed')`.execute(db);
      return { openLamports: rows[0]?.open ?? 0n, givenLamports: await givenForUsdc(db) };
    },

    async land(signature) {
      await change(signature).set({ state: 'landed' }).where('state', '=', 'received').execute();
    },

    async fail(signature, dead) {
      await change(signature)
        .set({ state: 'failed', is_final: true, signed_bytes: null })
        .where('state', 'in', ['received', 'landed'])
        .where('transfer_signature', 'is not distinct from', dead)
        .execute();
    },

    async beginTransfer(signature, transfer, dead) {
      try {
        const { numUpdatedRows } = await change(signature)
          .set({
            transfer_kind: transfer.kind,
            transfer_signature: transfer.signature,
            transfer_bytes: transfer.signedBytes,
            transfer_last_valid_block_height: transfer.lastValidBlockHeight,
            transfer_lamports: transfer.lamports,
            transfer_units: transfer.units,
            transfer_rent_lamports: transfer.rentLamports,
            transfer_fee_lamports: transfer.feeLamports,
          })
          .where('state', 'in', ['received', 'landed'])
          .where('transfer_signature', 'is not distinct from', dead)
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      } catch (error) {
        if ((error as { code?: unknown }).code === UNIQUE_VIOLATION) return false;
        throw error;
      }
    },

    async endTransfer(signature, transferSignature) {
      await change(signature)
        .set({ state: sql`case transfer_kind when 'fund' then 'funded' else 'refunded' end` })
        .where('state', 'in', ['received', 'landed'])
        .where('transfer_signature', '=', transferSignature)
        .execute();
    },

    async lose(signature) {
      await change(signature)
        .set({ state: 'lost', is_final: true })
        .where('state', 'in', ['funded', 'refunded'])
        .execute();
    },

    async reopenTransfer(signature, transferSignature) {
      await change(signature)
        .set({ state: 'landed' })
        .where('state', 'in', ['funded', 'refunded'])
        .where('transfer_signature', '=', transferSignature)
        .execute();
    },

    async finish(signature) {
      await change(signature)
        .set({ is_final: true, signed_bytes: null, transfer_bytes: null })
        .where('state', 'in', ['funded', 'refunded'])
        .execute();
    },

    takeDue: (limit) =>
      db
        .updateTable('payments')
        .set({
          next_attempt_at: sql<Date>`now() + make_interval(secs => 2 * 2 ^ least(attempts, 5))`,
          attempts: sql`attempts + 1`,
        })
        .where(
          'signature',
          '=',
          sql<string>`any (array(
            select signature from payments where not is_final and next_attempt_at <= now()
            order by next_attempt_at limit ${limit} for update skip locked))`,
        )
        .returningAll()
        .execute(),
  };
}

async function insert(db: Db, payment: NewPayment): Promise<void> {
  await db
    .insertInto('payments')
    .values(payment)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Lamports that the till gave for USDC within 24 hours. */
async function givenForUsdc(db: Db): Promise<bigint> {
  const { rows } = await sql<{
    given: bigint;
  }>`select coalesce(sum(lamports), 0)::bigint as given from payments
    where units is not null and state <> 'failed' and created_at > now() - interval '24 hours'`.execute(db);
  return rows[0]?.given ?? 0n;
}

/** Removes payments that took nothing, a week after their end. */
export async function removeFailedPayments(db: Db): Promise<void> {
  await db
    .deleteFrom('payments')
    .where('state', '=', 'failed')
    .where('updated_at', '<', FAILED_KEPT)
    .execute();
}
