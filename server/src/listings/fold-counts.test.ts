import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { insertListing, openTestDatabase } from '../testing/index.js';

const COUNT = 500;
const database = await openTestDatabase();
afterAll(() => database.close());

it.each([
  [
    'listing_run_deltas',
    (
      id: string,
    ) => sql`insert into listing_run_deltas (listing_id, run_count, completed_count, measure, duration_ms)
      select ${id}, 1, 1, 'completed', n from generate_series(1, ${COUNT}) n`,
  ],
  [
    'search_term_deltas',
    () => sql`insert into search_term_deltas (kind, term, difference)
      select 'word', 'term' || n, 1 from generate_series(1, ${COUNT}) n`,
  ],
] as const)(
  'reads each row of %s few times, also where the planner takes it for empty',
  async (table, append) => {
    const { db } = database;
    const { id } = await insertListing(db);
    await db.transaction().execute(async (tx) => {
      await append(id).execute(tx);
      // Another connection counts no row of the open transaction.
      await sql`vacuum ${sql.table(table)}`.execute(db);
    });
    const read = await db.transaction().execute(async (tx) => {
      await sql`select fold_deltas(${2 * COUNT})`.execute(tx);
      const { rows } = await sql<{ read: number }>`select (seq_tup_read + idx_tup_fetch)::integer as read
      from pg_stat_xact_user_tables where relname = ${table}`.execute(tx);
      return rows[0]?.read;
    });
    expect(read).toBeGreaterThanOrEqual(COUNT);
    expect(read).toBeLessThan(10 * COUNT);
    const { rows } = await sql`select from ${sql.table(table)}`.execute(db);
    expect(rows).toEqual([]);
  },
);
