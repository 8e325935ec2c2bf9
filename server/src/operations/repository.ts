import { sql } from 'kysely';
import { OPEN_CHARGE_STATES } from '../database/charge-states.js';
import type { Db } from '../database/connection.js';

/** How far the run log is. */
export interface RunLogCounts {
  /** Ended runs that are in no batch yet. */
  pendingRuns: number;
  /** The newest batch that is final on-chain; 0 before the first. */
  finalBatch: number;
  /** How long the batch that is not final yet has been there; 0 where there is none. */
  openSeconds: number;
}

/** The queries that watch the database. Each reads a small index and never a whole history. */
export interface OperationsRepository {
  /** Rejects when the database does not answer. */
  requireAnswer(): Promise<void>;
  /** Charges whose end is open, by state, with the time since the oldest one of each was made. */
  openCharges(): Promise<ReadonlyMap<string, { count: number; oldestSeconds: number }>>;
  /** Slots that runs hold. */
  slotsTaken(): Promise<number>;
  /** Runs that wait for one. */
  runsWaiting(): Promise<number>;
  runLog(): Promise<RunLogCounts>;
  /** Deliveries of events that wait for an attempt, and the time since the oldest of them was made; 0 without any. */
  deliveriesWaiting(): Promise<{ count: number; oldestSeconds: number }>;
  /** Payments of calls whose end may still be taken back, by state. */
  openPayments(): Promise<ReadonlyMap<string, number>>;
}

export function createOperationsRepository(db: Db): OperationsRepository {
  return {
    async requireAnswer() {
      await sql`select 1`.execute(db);
    },
    async openCharges() {
      const rows = await db
        .selectFrom('charges')
        .where('state', 'in', OPEN_CHARGE_STATES)
        .groupBy('state')
        .select((eb) => [
          'state' as const,
          eb.fn.countAll<bigint>().as('count'),
          sql<number>`greatest(0, extract(epoch from now() - min(created_at)))::float8`.as('oldest_seconds'),
        ])
        .execute();
      return new Map(
        rows.map(({ state, count, oldest_seconds: oldestSeconds }) => [
          state,
          { count: Number(count), oldestSeconds },
        ]),
      );
    },
    async openPayments() {
      const rows = await db
        .selectFrom('payments')
        .where('is_final', '=', false)
        .groupBy('state')
        .select((eb) => ['state' as const, eb.fn.countAll<bigint>().as('count')])
        .execute();
      return new Map(rows.map(({ state, count }) => [state, Number(count)]));
    },
    async slotsTaken() {
      const { count } = await db
        .selectFrom('seats')
        .where('expires_at', '>', new Date())
        .select((eb) => eb.fn.countAll<bigint>().as('count'))
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    async runsWaiting() {
      const { count } = await db
        .selectFrom('seat_line')
        .where('expires_at', '>', new Date())
        .select((eb) => eb.fn.countAll<bigint>().as('count'))
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    async runLog() {
      const { rows } = await sql<{ pending: bigint; final: bigint; seconds: number }>`
        select
          (select count(*) from run_log_entries where batch is null) as pending,
          coalesce((
            select number from run_log_batches where signature is not null order by number desc limit 1
          ), 0) as final,
          coalesce((
            select extract(epoch from now() - created_at)::float8 from run_log_batches where signature is null
          ), 0) as seconds`.execute(db);
      const { pending = 0n, final = 0n, seconds = 0 } = rows[0] ?? {};
      return { pendingRuns: Number(pending), finalBatch: Number(final), openSeconds: seconds };
    },
    async deliveriesWaiting() {
      const { rows } = await sql<{ count: bigint; seconds: number }>`
        select count(*) as count, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds
        from webhook_deliveries where status = 'pending'`.execute(db);
      const { count = 0n, seconds = 0 } = rows[0] ?? {};
      return { count: Number(count), oldestSeconds: Math.max(0, seconds) };
    },
  };
}
