import { RESULT_KEPT_HOURS } from '@agent-rental/contract';
import { sql } from 'kysely';
import type { Db } from '../../database/connection.js';

/** Name of the job, and when it is done (every ten minutes, by one of the replicas). */
export const EXPIRY_TASK = 'remove_expired';
export const EXPIRY_CRONTAB = `*/10 * * * * ${EXPIRY_TASK}`;

/** How long results, and keys that were cancelled, are kept. */
const KEPT = sql<Date>`now() - make_interval(hours => ${RESULT_KEPT_HOURS})`;
/** An upload that is not complete after this time is removed. */
const ABANDONED = sql<Date>`now() - interval '1 hour'`;
/** Rows of one transaction, so that none is long and vacuuming follows. */
const BATCH = 5_000;

/**
 * Removes expired results and files. A run's row stays, without its output, for its receipt.
 */
export async function removeExpired(db: Db): Promise<void> {
  await inBatches((limit) =>
    db
      .updateTable('runs')
      .set({ output: null })
      // As an array, which is looked up by the key: of a subquery a join with all runs may be made.
      .where(
        'id',
        '=',
        sql<string>`any (array(
          select id from runs where output is not null and finished_at < ${KEPT}
          order by finished_at limit ${limit} for update skip locked))`,
      )
      .executeTakeFirstOrThrow()
      .then(({ numUpdatedRows }) => Number(numUpdatedRows)),
  );
  await db.deleteFrom('cancelled_keys').where('created_at', '<', KEPT).execute();
  await db
    .updateTable('trials')
    .set({ address: null })
    .where('address', 'is not', null)
    .where('taken_at', '<', sql<Date>`now() - interval '24 hours'`)
    .execute();
  await db
    .deleteFrom('files')
    .where(({ eb, and, or }) =>
      or([
        eb('expires_at', '<=', sql<Date>`now()`),
        and([eb('is_complete', '=', false), eb('created_at', '<', ABANDONED)]),
      ]),
    )
    .execute();
}

/** Repeats a change of at most so many rows, until one finds fewer. @param change gives how many it found. */
async function inBatches(change: (limit: number) => Promise<number>): Promise<void> {
  while ((await change(BATCH)) >= BATCH);
}
