import type { IndexedListing } from '@agent-rental/server/testing';
import type { Pool } from 'pg';
import { median, timesOf, type Sheet } from '../report.js';
import { timed } from '../harness/turns.js';
import { BUSY_WALLET, type GrownMarket } from './grown-market.js';
import type { Sizes } from './sizes.js';

/** The largest ratio of the times with and without a held snapshot. */
const MOST = 1.5;
/** A slot of the chain that is newer than the seed's slots. */
const FIRST_SLOT = 9_100_000_000_000_000n;
/** The timeout of a statement. */
const STATEMENT_TIMEOUT_MS = 120_000;

/**
 * Measures three kinds of work, first without and then beside a transaction that holds a snapshot. Such a transaction, for
 * instance of `pg_dump`, keeps PostgreSQL from removing dead row versions.
 *
 * - Runs take and free slots of one listing.
 * - Different listings pause and resume.
 * - One listing pauses and resumes many times. This has no bound, because each dead version of its row slows the next change.
 *   Real listings do not change thousands of times in one dump.
 */
export async function measureSnapshot(
  { parts }: GrownMarket,
  { besideSnapshot }: Sizes,
  sheet: Sheet,
): Promise<void> {
  const { pool } = parts;
  const each = 2 * besideSnapshot;
  const listings = await rowsOf<IndexedListing>(
    pool,
    `select id, address from listings where status = 'active' and id like 'seeded-%' order by id limit ${each + 1}`,
  );
  const runs = await rowsOf<{ id: string }>(
    pool,
    `select id from runs where status = 'completed' limit ${each}`,
  );
  const [listing] = listings;
  if (!listing) throw new Error('No listing is on sale.');
  let slot = FIRST_SLOT;
  const resume = async (one: IndexedListing): Promise<void> => {
    for (const status of ['paused', 'active'] as const) await parts.indexListing(one, status, (slot += 1n));
  };
  const nextRun = endlessly(runs);
  const nextListing = endlessly(listings.slice(1));
  const work = [
    {
      what: 'taking and freeing a slot',
      once: () => parts.takeSlot(listing.id, nextRun().id, BUSY_WALLET),
      isBound: true,
    },
    { what: 'pausing and resuming a listing', once: () => resume(nextListing()), isBound: true },
    {
      what: `pausing and resuming one listing ${besideSnapshot} times`,
      once: () => resume(listing),
      isBound: false,
    },
  ];
  for (const { what, once, isBound } of work) {
    const measure = async (): Promise<number[]> => {
      await pool.query('vacuum (analyze) seats, listings, listing_search, search_terms, creators');
      const times: number[] = [];
      for (let count = 0; count < besideSnapshot; count += 1) times.push(await timed(once));
      // The dead row versions of earlier rounds slow the last rounds the most.
      return times.slice(-Math.ceil(besideSnapshot / 4));
    };
    const free = await measure();
    const release = await holdSnapshot(pool);
    const held = await measure();
    await release();
    sheet.add({ what: `${what}, no snapshot`, ...timesOf(free) });
    sheet.add({ what: `${what}, beside a snapshot`, ...timesOf(held) });
    if (isBound) sheet.atMost(`${what}, beside a snapshot`, median(held) / median(free), MOST, 'times');
  }
}

async function rowsOf<Row extends object>(pool: Pool, statement: string): Promise<Row[]> {
  return (await pool.query<Row>(statement)).rows;
}

/** Makes a function that returns the items in turns, endlessly. */
function endlessly<Item>(items: readonly Item[]): () => Item {
  let next = 0;
  return () => {
    const item = items[next % items.length];
    next += 1;
    if (item === undefined) throw new Error('The history has no such rows.');
    return item;
  };
}

/** Holds a snapshot of the database. @returns a function that releases it. */
async function holdSnapshot(pool: Pool): Promise<() => Promise<void>> {
  const holder = await pool.connect();
  await holder.query('begin isolation level repeatable read');
  await holder.query('select count(*) from index_cursor');
  return async () => {
    await holder.query('rollback');
    holder.release();
  };
}

/** Measures one statement that changes many listings. */
export async function measureManyChanged(
  { parts }: GrownMarket,
  { changed, times }: Sizes,
  sheet: Sheet,
): Promise<void> {
  const client = await parts.pool.connect();
  try {
    await client.query(`set statement_timeout = ${STATEMENT_TIMEOUT_MS}`);
    for (const count of [changed, changed * times]) {
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
      sheet.add(
        ms === undefined
          ? { what, note: `not done in ${STATEMENT_TIMEOUT_MS / 1_000} s` }
          : { what, total_ms: ms, ms_each: ms / count },
      );
    }
  } finally {
    client.release(true);
  }
}

/** PostgreSQL's code of a statement that took too long. */
const QUERY_CANCELED = '57014';
