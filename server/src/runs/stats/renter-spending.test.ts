import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import type { Owner } from '../../access/owner.js';
import { ApiError } from '../../errors/api-error.js';
import { foldCounts } from '../../listings/fold-counts.js';
import { deriveKeys } from '../../platform/keys.js';
import {
  insertListing,
  insertRun,
  loginOf,
  newKeyOf,
  newWallet,
  openTestDatabase,
  rowsRead,
} from '../../testing/index.js';
import { createRunRepository } from '../history/repository.js';
import { createAgentsStats } from './agents-stats.js';
import { createRenterSpending, removeOldSpending } from './renter-spending.js';

const database = await openTestDatabase();
afterAll(() => database.close());
const { db } = database;
const spending = createRenterSpending(db);
const agents = createAgentsStats(db);
const runs = createRunRepository(db, deriveKeys(new Uint8Array(32).fill(7)));

/** Ends runs of a wallet, some of them by a key, each with another cost. */
async function history() {
  const wallet = newWallet();
  const creator = newWallet();
  const key = newKeyOf(wallet);
  const listings = [await insertListing(db, { creator }), await insertListing(db, { creator })] as const;
  let count = 0;
  const end = async (listing: number, status: 'completed' | 'failed' | 'undelivered', byKey?: Owner) => {
    const row = listings[listing] ?? listings[0];
    const runId = await insertRun(db, row, wallet);
    const id = byKey?.apiKeyId ?? null;
    await db.updateTable('runs').set({ api_key_id: id }).where('id', '=', runId).execute();
    count += 1;
    if (status === 'undelivered') {
      const error = new ApiError('service_unavailable', 'Not reached.');
      await runs.markUndelivered(runId, error, { outputHasLeft: false });
      return;
    }
    await runs.finish({
      runId,
      agentId: row.id,
      status,
      output: 'done',
      costLamports: BigInt(count * 1_000),
      durationMs: 100,
      ...(status === 'failed' ? { failure: { class: 'timed_out' as const } } : {}),
    });
  };
  return { wallet, creator, key, listings, end };
}

/** The same numbers, from the runs themselves. */
async function bySql(where: 'wallet' | 'api_key_id', value: string, group: 'listing_id' | 'day') {
  const of = group === 'day' ? sql`date_trunc('day', finished_at, 'UTC')` : sql`listing_id`;
  const { rows } = await sql<Record<string, unknown>>`
    select ${of} as of, count(*) filter (where status = 'completed')::integer as completed,
      count(*) filter (where status = 'failed')::integer as failed,
      count(*) filter (where status = 'undelivered')::integer as undelivered,
      coalesce(sum(cost_lamports) filter (where status <> 'undelivered'), 0)::integer as spent_lamports
    from runs where ${sql.ref(where)}::text = ${value} and status <> 'running' group by 1
    order by spent_lamports desc`.execute(db);
  return rows;
}

describe('the numbers of runs that a renter sees', () => {
  it('equal SQL over its runs, by day and agent, before and after they are folded; a key sees its own alone [SVC-31]', async () => {
    const { wallet, key, listings, end } = await history();
    const other = newKeyOf(wallet);
    expect(await spending.read(loginOf(wallet), '7d')).toMatchObject({
      sum: { completed: 0, failed: 0, undelivered: 0, spent_lamports: 0 },
      agents: [],
    });
    await end(0, 'completed');
    await end(0, 'completed', key);
    await end(1, 'failed', key);
    await foldCounts(db);
    await end(1, 'completed');
    await end(1, 'undelivered', key);
    for (const isFolded of [false, true]) {
      if (isFolded) await foldCounts(db);
      for (const [owner, column, value] of [
        [loginOf(wallet), 'wallet', wallet],
        [key, 'api_key_id', key.apiKeyId ?? ''],
      ] as const) {
        for (const window of ['7d', '30d'] as const) {
          const { series, agents: each, sum, since } = await spending.read(owner, window);
          expect(series).toHaveLength(window === '7d' ? 7 : 30);
          expect(series[0]?.started_at).toBe(since);
          const withRuns = series.filter(
            ({ completed, failed, undelivered }) => completed + failed + undelivered > 0,
          );
          const days = await bySql(column, value, 'day');
          expect(withRuns.map(({ started_at: at, ...counts }) => ({ of: new Date(at), ...counts }))).toEqual(
            days,
          );
          const titleOf = (id: unknown) => listings.find((listing) => listing.id === id)?.title;
          const byAgent = await bySql(column, value, 'listing_id');
          expect(each).toEqual(
            byAgent.map(({ of, ...counts }) => ({ listing_id: of, listing_title: titleOf(of), ...counts })),
          );
          expect(days).toHaveLength(1);
          expect(days[0]).toMatchObject(sum);
        }
      }
      expect((await spending.read(other, '30d')).agents).toEqual([]);
      expect((await spending.read(loginOf(newWallet()), '30d')).agents).toEqual([]);
    }
  });

  it('forgets days before the window, and removes days that no window shows [SVC-31]', async () => {
    const { wallet, listings } = await history();
    const past = (days: number) =>
      sql`insert into renter_stats values (${wallet}, date_trunc('day', now(), 'UTC') - make_interval(days => ${days}),
        ${listings[0].id}, 1, 0, 0, 10)`.execute(db);
    for (const days of [0, 6, 7, 29, 30, 40]) await past(days);
    const read = async (window: '7d' | '30d') => (await spending.read(loginOf(wallet), window)).sum;
    expect(await read('7d')).toMatchObject({ completed: 2, spent_lamports: 20 });
    expect(await read('30d')).toMatchObject({ completed: 4, spent_lamports: 40 });
    await removeOldSpending(db);
    const kept = db.selectFrom('renter_stats').select('started_at').where('owner', '=', wallet);
    expect(await kept.execute()).toHaveLength(5);
  });

  it('reads a row for each day and agent, however many runs there were [SVC-31]', async () => {
    const { wallet, listings } = await history();
    const append = (count: number) =>
      sql`insert into listing_run_deltas (listing_id, run_count, completed_count, measure, duration_ms, noted_at, wallet,
          cost_lamports)
        select ${listings[0].id}, 1, 1, 'completed', 100, now() - (n % 29) * interval '1 day', ${wallet}, 10
        from generate_series(1, ${count}) n`.execute(db);
    await append(20_000);
    await foldCounts(db);
    const read = await rowsRead(database.pool, (on) => createRenterSpending(on).read(loginOf(wallet), '30d'));
    expect((await spending.read(loginOf(wallet), '30d')).sum).toMatchObject({
      completed: 20_000,
      spent_lamports: 200_000,
    });
    expect(read.get('renter_stats')).toBe(29);
  });
});

describe('the numbers of all agents of a creator', () => {
  it('are the sums of each agent, and are told to their creator alone [REG-140]', async () => {
    const { creator, listings, end } = await history();
    await end(0, 'completed');
    await end(0, 'failed');
    await foldCounts(db);
    await end(0, 'undelivered');
    await end(1, 'completed');
    await sql`insert into listing_stats values (${listings[1].id}, 'day', date_trunc('day', now(), 'UTC'), 'earned', '', 975)`.execute(
      db,
    );
    const owner = loginOf(creator);
    const [first, second] = [
      { listing_id: listings[0].id, completed: 1, failed: 1, undelivered: 1, earned_lamports: 0 },
      { listing_id: listings[1].id, completed: 1, failed: 0, undelivered: 0, earned_lamports: 975 },
    ];
    for (const isFolded of [false, true]) {
      if (isFolded) await foldCounts(db);
      const { agents: each, series } = await agents.read(owner, '7d');
      expect(each).toEqual([first, second]);
      expect(series).toHaveLength(7);
      expect(series.at(-1)).toMatchObject({ completed: 2, failed: 1, undelivered: 1, earned_lamports: 975 });
    }
    const limited = newKeyOf(creator, { listing_ids: [listings[1].id] });
    expect((await agents.read(limited, '30d')).agents).toEqual([second]);
    const stranger = await agents.read(loginOf(newWallet()), '30d');
    expect(stranger.agents).toEqual([]);
    expect(stranger.series.every(({ completed }) => completed === 0)).toBe(true);
  });
});
