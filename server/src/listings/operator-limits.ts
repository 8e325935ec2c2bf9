import type { Db } from '../database/connection.js';

/** Limits that the operator sets over a creator's own. */
export interface OperatorLimits {
  list(): Promise<{ id: string; title: string; runsPerMinute: number; creatorsOwn: number | null }[]>;
  /** Runs per minute and credential; null goes back to the creator's. False when there is no such listing. */
  set(listingId: string, runsPerMinute: number | null): Promise<boolean>;
}

export function createOperatorLimits(db: Db): OperatorLimits {
  return {
    async list() {
      const rows = await db
        .selectFrom('listings')
        .select(['id', 'title', 'operator_runs_per_minute', 'runs_per_minute'])
        .where('operator_runs_per_minute', 'is not', null)
        .orderBy('id')
        .execute();
      return rows.map((row) => ({
        id: row.id,
        title: row.title,
        runsPerMinute: row.operator_runs_per_minute ?? 0,
        creatorsOwn: row.runs_per_minute,
      }));
    },
    async set(listingId, runsPerMinute) {
      const updated = await db
        .updateTable('listings')
        .set({ operator_runs_per_minute: runsPerMinute })
        .where('id', '=', listingId)
        .executeTakeFirst();
      return updated.numUpdatedRows === 1n;
    },
  };
}
