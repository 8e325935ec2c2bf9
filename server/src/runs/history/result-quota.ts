import { RESULTS_KEPT_MIB } from '@agent-rental/contract';
import { sql, type Selectable } from 'kysely';
import type { Db } from '../../database/connection.js';
import type { Database } from '../../database/schema.js';

const MIB = 1024 * 1024;

/** A wallet or listing, and the most that its results take: results that are removed later stay counted for a while. */
export type Keeper = Selectable<Database['kept_results']>;

/** A removal frees this part of the quota more than it must. So it reads the kept results once for many small ones. */
const SPARE_PART = 1 / 64;

/**
 * Removes the oldest results of wallets and listings beyond the quota, as `removeExpired` removes them after their time.
 * Held results stay: they have no end yet.
 */
export async function removeOldestResults(
  db: Db,
  keepers: readonly Keeper[],
  quotaBytes = RESULTS_KEPT_MIB * MIB,
): Promise<void> {
  for (const keeper of keepers) {
    if (keeper.bytes <= quotaBytes) continue;
    // The run has ended all the same, and the next end finds the same excess.
    await removeOldest(db, keeper, quotaBytes).catch(() => undefined);
  }
}

async function removeOldest(db: Db, { kind, holder }: Keeper, quotaBytes: number): Promise<void> {
  const column = sql.ref(kind === 'wallet' ? 'wallet' : 'listing_id');
  const spared = Math.floor(quotaBytes * (1 - SPARE_PART));
  await db.transaction().execute(async (tx) => {
    // Each end adds to this row, so the next statement sees all results that are in it.
    const { bytes } = await tx
      .selectFrom('kept_results')
      .select('bytes')
      .where('kind', '=', kind)
      .where('holder', '=', holder)
      .forUpdate()
      .executeTakeFirstOrThrow();
    if (bytes <= quotaBytes) return;
    await sql`
      with kept as materialized (
        select id, sum(output_bytes) over (order by finished_at desc, id desc) as up_to_here
        from runs where ${column} = ${holder} and output is not null and finished_at is not null
      ), total as (
        select max(up_to_here) as bytes, max(up_to_here) filter (where up_to_here <= ${spared}) as spared_bytes from kept
      ), removed as (
        update runs set output = null where output is not null and id = any (array(
          -- In one order, because a wallet and a listing may remove the same results at once.
          select id from runs
          where id = any (array(
            select id from kept where up_to_here > ${spared} and (select bytes from total) > ${quotaBytes}))
          order by finished_at, id for no key update))
      )
      update kept_results set bytes = coalesce(
        case when total.bytes > ${quotaBytes} then total.spared_bytes else total.bytes end, 0)
      from total where kind = ${kind} and holder = ${holder}`.execute(tx);
  });
}
