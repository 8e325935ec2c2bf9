import type { Pool } from 'pg';
import { TIMES } from './sizes.js';
import { atMost, median, percentile, round, type Row } from '../report.js';
import { timed, type Sheet } from './comparison.js';
import type { GrownMarket } from './grown-market.js';
import type { Sizes } from './sizes.js';

/** How much longer a slot and a publication may take while a snapshot is held. */
const MOST = 1.5;
/** Newer than any slot of the seed. */
const FIRST_SLOT = 9_100_000_000_000_000n;
/** Longer than this a statement is not waited for. */
const STATEMENT_TIMEOUT_MS = 120_000;

/**
 * Takes slots of one listing and publishes another one again and again, first as it is, and then beside a transaction that
 * holds a snapshot as `pg_dump` does, so that no dead version of a row can be removed.
 */
export async function measureSnapshot(
  { parts, busyWallet }: GrownMarket,
  { besideSnapshot }: Sizes,
  { rows, targets, progress }: Sheet,
): Promise<void> {
  const { pool } = parts;
  const found = await pool.query<{ id: string; address: string; run_id: string }>(
    `select listings.id, listings.address, (select runs.id from runs where runs.listing_id = listings.id limit 1) as run_id
      from listings where listings.status = 'active' and exists (select from runs where runs.listing_id = listings.id)
        and listings.id like 'seeded-%' order by listings.id limit 1`,
  );
  const [listing] = found.rows;
  if (!listing) throw new Error('No listing was run.');
  let slot = FIRST_SLOT;
  const work = {
    'taking and freeing a slot': () => parts.takeSlot(listing.id, listing.run_id, busyWallet),
    'pausing and resuming a listing': async () => {
      for (const status of ['paused', 'active'] as const)
        await parts.indexListing(listing, status, (slot += 1n));
    },
  };
  for (const [what, once] of Object.entries(work)) {
    const measure = async (): Promise<number[]> => {
      await pool.query('vacuum (analyze) seats, listings, listing_search, search_terms, creators');
      const times: number[] = [];
      for (let count = 0; count < besideSnapshot; count += 1) times.push(await timed(once));
      // What has been left by those before is in the way of the last.
      return times.slice(-Math.ceil(besideSnapshot / 4));
    };
    const free = await measure();
    const release = await holdSnapshot(pool);
    const held = await measure();
    await release();
    const ratio = median(held) / median(free);
    rows.push(rowOf(`${what}, no snapshot`, free), rowOf(`${what}, beside a snapshot`, held));
    targets.push(atMost(`${what}, beside a snapshot`, ratio, MOST, 'times'));
    progress(`${what}: ${round(median(free))} ms, beside a snapshot ${round(median(held))} ms`);
  }
}

/** Holds a snapshot of the database until it is released. */
async function holdSnapshot(pool: Pool): Promise<() => Promise<void>> {
  const holder = await pool.connect();
  await holder.query('begin isolation level repeatable read');
  await holder.query('select count(*) from index_cursor');
  return async () => {
    await holder.query('rollback');
    holder.release();
  };
}

function rowOf(what: string, times: readonly number[]): Row {
  return {
    what,
    p50_ms: round(median(times)),
    p95_ms: round(percentile(times, 95)),
    samples: times.length,
  };
}

/** Changes the price of many listings in one statement. */
export async function measureManyChanged(
  { parts }: GrownMarket,
  { changed }: Sizes,
  { rows, progress }: Sheet,
): Promise<void> {
  const client = await parts.pool.connect();
  try {
    await client.query(`set statement_timeout = ${STATEMENT_TIMEOUT_MS}`);
    for (const count of [changed, changed * TIMES]) {
      const what = `${count} listings changed in one statement`;
      const change = () =>
        client.query(
          `update listings set price_lamports = price_lamports + 1, title = title || ' again'
            where id in (select id from listings where id like 'seeded-%' and status = 'active' order by id limit $1)`,
          [count],
        );
      const ms = await timed(change).catch((error: unknown) => {
        if ((error as { code?: unknown }).code === QUERY_CANCELED) return undefined;
        throw error;
      });
      rows.push(
        ms === undefined
          ? { what, note: `not done in ${STATEMENT_TIMEOUT_MS / 1_000} s` }
          : { what, total_ms: round(ms), ms_each: round(ms / count) },
      );
      progress(`${what}: ${ms === undefined ? 'not done' : `${round(ms)} ms`}`);
    }
  } finally {
    client.release(true);
  }
}

/** PostgreSQL's code of a statement that took too long. */
const QUERY_CANCELED = '57014';
