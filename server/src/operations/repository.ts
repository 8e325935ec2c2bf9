import { sql } from 'kysely';
import type { Db } from '../database/connection.js';

/** What is asked of the database to watch it; each reads a small index and never a whole history. */
export interface OperationsRepository {
  /** Rejects when the database does not answer. */
  requireAnswer(): Promise<void>;
  /** Charges whose end is open, by state. */
  openCharges(): Promise<ReadonlyMap<string, number>>;
  /** Slots that runs hold. */
  slotsTaken(): Promise<number>;
  /** Runs that wait for one. */
  runsWaiting(): Promise<number>;
}

export function createOperationsRepository(db: Db): OperationsRepository {
  return {
    async requireAnswer() {
      await sql`select 1`.execute(db);
    },
    async openCharges() {
      const rows = await db
        .selectFrom('charges')
        .where('state', 'in', ['reserved', 'signed', 'confirmed'])
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
  };
}
