import { COUNTED_FOR_TOTAL } from '@agent-rental/contract';
import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import {
  insertListing,
  loginOf,
  newKeyOf,
  newWallet,
  openTestDatabase,
  rowsRead,
} from '../../testing/index.js';
import { createRunList } from './run-list.js';

const database = await openTestDatabase();
afterAll(() => database.close());
const runs = createRunList(database.db);

/**
 * Stores so many finished runs of one wallet, of two listings by turns: three in each microsecond, and ten microseconds
 * between these.
 */
async function storeRuns(count: number): Promise<{ wallet: string; listingId: string }> {
  const wallet = newWallet();
  const [one, other] = [await insertListing(database.db), await insertListing(database.db)];
  await sql`insert into runs (id, listing_id, version_id, wallet, status, request_digest, created_at, finished_at)
    select gen_random_uuid(), case when n % 2 = 0 then ${one.id} else ${other.id} end, ${one.version_id}::uuid, ${wallet},
      'completed', '\\x00', timestamptz '2026-01-01' + (n / 3) * interval '10 microseconds', now()
    from generate_series(1, ${count}) n`.execute(database.db);
  await sql`vacuum analyze runs`.execute(database.db);
  return { wallet, listingId: one.id };
}

it('pages from place to place have each run once, newest first, also where many began in one microsecond [RUN-1]', async () => {
  const { wallet, listingId } = await storeRuns(100);
  for (const [listing, count] of [
    [undefined, 100],
    [listingId, 50],
  ] as const) {
    const whole = await runs.page(loginOf(wallet), listing, { limit: 200, offset: 0 });
    expect(new Set(whole.map(({ id }) => id)).size).toBe(count);
    const times = whole.map(({ created_at_us }) => created_at_us);
    expect(times).toEqual(times.toSorted((one, another) => Number(another - one)));
    const walked: typeof whole = [];
    for (;;) {
      const last = walked.at(-1);
      const after = last && { timeUs: last.created_at_us, id: last.id };
      const page = await runs.page(loginOf(wallet), listing, { limit: 7, offset: 0, after });
      if (page.length === 0) break;
      walked.push(...page);
    }
    expect(walked).toEqual(whole);
    expect(await runs.page(loginOf(wallet), listing, { limit: 5, offset: 12 })).toEqual(whole.slice(12, 17));
    expect(await runs.count(loginOf(wallet), listing)).toEqual({ total: count, isMinimum: false });
  }
  expect(await runs.page(loginOf(newWallet()), undefined, { limit: 5, offset: 0 })).toEqual([]);
});

it('a page reads the runs that it shows alone, at any place and of one listing, and a count a thousand at most', async () => {
  const { wallet, listingId } = await storeRuns(5_000);
  const deep = await runs.page(loginOf(wallet), undefined, { limit: 1, offset: 4_000 });
  const after = deep.map(({ created_at_us, id }) => ({ timeUs: created_at_us, id }))[0];
  expect(after).toBeDefined();
  const key = newKeyOf(wallet);
  const one = await runs.page(loginOf(wallet), listingId, { limit: 25, offset: 0 });
  const other = await runs.page(loginOf(wallet), undefined, { limit: 25, offset: 4_100 });
  const ids = [...one, ...other].map(({ id }) => id);
  await database.db.updateTable('runs').set({ api_key_id: key.apiKeyId }).where('id', 'in', ids).execute();
  for (const listing of [undefined, listingId]) {
    for (const [owner, place] of [
      [loginOf(wallet), undefined],
      [loginOf(wallet), after],
      [key, undefined],
    ] as const) {
      const read = await rowsRead(database.pool, async (db) => {
        const page = await createRunList(db).page(owner, listing, { limit: 20, offset: 0, after: place });
        expect(page.length).toBe(20);
      });
      expect(read.get('runs')).toBe(20);
    }
    expect((await runs.count(key, listing)).total).toBe(
      listing === undefined ? 50 : 25 + other.filter((run) => run.listing_id === listing).length,
    );
    const counted = await rowsRead(database.pool, (db) => createRunList(db).count(loginOf(wallet), listing));
    expect(counted.get('runs')).toBe(COUNTED_FOR_TOTAL.runs);
    expect(await runs.count(loginOf(wallet), listing)).toEqual({
      total: COUNTED_FOR_TOTAL.runs,
      isMinimum: true,
    });
  }
});
