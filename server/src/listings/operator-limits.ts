import type { Db } from '../database/connection.js';
import { recordAction } from '../moderation/index.js';

/** Limits that the operator sets over a creator's own. */
export interface OperatorLimits {
  list(): Promise<{ id: string; title: string; runsPerMinute: number; creatorsOwn: number | null }[]>;
  /**
   * Sets the runs per minute and credential, and puts that on record; null goes back to the creator's. False when there is no
   * such listing.
   */
  set(listingId: string, runsPerMinute: number | null, operator: string): Promise<boolean>;
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
    set: (listingId, runsPerMinute, operator) =>
      db.transaction().execute(async (tx) => {
        const updated = await tx
          .updateTable('listings')
          .set({ operator_runs_per_minute: runsPerMinute })
          .where('id', '=', listingId)
          .executeTakeFirst();
        if (updated.numUpdatedRows !== 1n) return false;
        const details = { runs_per_minute: runsPerMinute };
        await recordAction(tx, { action: 'limit', subject: listingId, operator, details });
        return true;
      }),
  };
}
