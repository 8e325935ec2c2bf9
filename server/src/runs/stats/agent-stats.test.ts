import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, describe, expect, it } from 'vitest';
import { foldCounts } from '../../listings/fold-counts.js';
import { ApiError } from '../../errors/api-error.js';
import { deriveKeys } from '../../platform/keys.js';
import { insertListing, insertRun, newWallet, openTestDatabase, rowsRead } from '../../testing/index.js';
import { createAgentStats, removeOldStats } from './agent-stats.js';
import { createNotedCounts } from '../history/noted-counts.js';
import { createRunRepository, type FinishedRun } from '../history/repository.js';

const database = await openTestDatabase();
afterAll(() => database.close());
const stats = createAgentStats(database.db);
const runs = createRunRepository(database.db, deriveKeys(new Uint8Array(32).fill(7)));

type Row = Awaited<ReturnType<typeof insertListing>>;

/** A listing, and a run of it that ends as given. */
async function listed() {
  const row = await insertListing(database.db);
  const begin = () => insertRun(database.db, row, newWallet());
  const end = async (over: Partial<FinishedRun>) =>
    runs.finish({
      runId: await begin(),
      agentId: row.id,
      status: 'completed',
      output: 'done',
      costLamports: 0n,
      durationMs: 100,
      ...over,
    });
  return { row, begin, end };
}

const read = (row: Row, window: '24h' | '7d' | '30d' = '24h') => stats.read(row.creator, row.id, window);

describe('the numbers of runs that a creator sees', () => {
  it('has every end of a run, before and after it is folded, in every window [REG-140]', async () => {
    const { row, begin, end } = await listed();
    await end({});
    await end({});
    await end({ status: 'failed', failure: { class: 'timed_out' }, durationMs: 60_000 });
    // One that its caller stopped is in no success rate, and seen here.
    const stopped = await begin();
    await runs.requestStop(stopped, 'cancelled');
    const gone = { agentId: row.id, output: '', costLamports: 0n, durationMs: 40 } as const;
    await runs.finish({ ...gone, runId: stopped, status: 'failed', failure: { class: 'stopped' } });
    // A result that is held until it is paid counts when it is released.
    const held = await begin();
    await runs.hold({ ...gone, runId: held, status: 'failed', failure: { class: 'timed_out' } });
    await runs.finishHeld(held);
    const unreached = new ApiError('service_unavailable', 'Not reached.');
    const failure = { class: 'endpoint_unreachable', httpStatus: 503 } as const;
    await runs.markUndelivered(await begin(), unreached, { outputHasLeft: false, failure });

    const counted = {
      runs: { total: 6, completed: 2, failed: 3, undelivered: 1 },
      failures: [
        { class: 'timed_out', count: 2 },
        { class: 'endpoint_unreachable', count: 1 },
        { class: 'stopped', count: 1 },
      ],
    };
    expect(await read(row)).toMatchObject(counted);
    await foldCounts(database.db);
    for (const window of ['24h', '7d', '30d'] as const) {
      expect(await read(row, window)).toMatchObject({ window, ...counted });
    }
    await end({});
    expect((await read(row)).runs).toMatchObject({ total: 7, completed: 3 });
    // It is told to no other creator.
    const asked = stats.read(newWallet(), row.id, '24h');
    await expect(asked).rejects.toMatchObject({ code: 'listing_not_found' });
  });

  it('gives durations to within 5%, of runs with a result alone [REG-140]', async () => {
    const { row, end, begin } = await listed();
    expect((await read(row)).duration_ms).toEqual({ p50: null, p95: null });
    for (let ms = 1; ms <= 100; ms += 1) await end({ durationMs: ms * 137 });
    const error = new ApiError('service_unavailable', 'Not reached.');
    await runs.markUndelivered(await begin(), error, { outputHasLeft: false });
    const { duration_ms: given } = await read(row);
    expect(Math.abs((given.p50 ?? 0) / (50 * 137) - 1)).toBeLessThan(0.05);
    expect(Math.abs((given.p95 ?? 0) / (95 * 137) - 1)).toBeLessThan(0.05);
    expect((await read(row)).series?.at(-1)?.duration_ms).toEqual(given);
  });

  it('counts by hour or day, forgets counts before the window, and removes counts that no window shows [REG-140] [SVC-30]', async () => {
    const { row } = await listed();
    const past = (age: string, measure: string) =>
      sql`insert into listing_run_deltas (listing_id, run_count, completed_count, measure, noted_at)
        values (${row.id}, 0, 0, ${measure}, now() - ${age}::interval)`.execute(database.db);
    await past('25 hours', 'completed');
    await past('3 days', 'completed');
    await past('10 days', 'failed');
    await past('40 days', 'completed');
    for (const isFolded of [false, true]) {
      if (isFolded) await foldCounts(database.db);
      expect((await read(row)).runs.total).toBe(0);
      expect((await read(row, '7d')).runs).toMatchObject({ total: 2, completed: 2 });
      expect((await read(row, '30d')).runs).toMatchObject({ total: 3, completed: 2, failed: 1 });
    }
    // Each hour or day has its counts, also without a run.
    for (const [window, length] of [
      ['24h', 25],
      ['7d', 7],
      ['30d', 30],
    ] as const) {
      const { series = [], runs, since } = await read(row, window);
      expect(series).toHaveLength(length);
      expect(series[0]?.started_at).toBe(since);
      expect(Date.parse(series.at(-1)?.started_at ?? '')).toBeLessThanOrEqual(Date.now());
      for (const name of ['completed', 'failed'] as const) {
        expect(series.reduce((sum, period) => sum + period[name], 0)).toBe(runs[name]);
      }
    }
    const month = (await read(row, '30d')).series ?? [];
    expect(month.filter(({ completed }) => completed > 0)).toHaveLength(2);
    const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
    expect(month.find(({ failed }) => failed > 0)?.started_at.slice(0, 10)).toBe(dayBefore(10));
    await removeOldStats(database.db);
    const kept = database.db.selectFrom('listing_stats').select('grain').where('listing_id', '=', row.id);
    const grains = (await kept.orderBy('grain').execute()).map(({ grain }) => grain);
    expect(grains).toEqual(['day', 'day', 'day', 'hour']);
    expect((await read(row, '30d')).runs.total).toBe(3);
  });

  it('reads no more rows of many runs than of few [REG-140]', async () => {
    const { row } = await listed();
    const append = (count: number) =>
      sql`insert into listing_run_deltas (listing_id, run_count, completed_count, measure, duration_ms, noted_at)
        select ${row.id}, 1, 1, 'completed', 100 + n % 900, now() - (n % 700) * interval '1 hour'
        from generate_series(1, ${count}) n`.execute(database.db);
    await append(2_000);
    await foldCounts(database.db);
    const rowsOf = async () =>
      (await rowsRead(database.pool, (db) => createAgentStats(db).read(row.creator, row.id, '30d'))).get(
        'listing_stats',
      ) ?? 0;
    const few = await rowsOf();
    await append(20_000);
    await foldCounts(database.db);
    expect((await read(row, '30d')).runs.total).toBeGreaterThan(20_000);
    // Each day has a row for the runs, and one for each step of their durations.
    expect(few).toBeGreaterThan(0);
    expect(await rowsOf()).toBeLessThanOrEqual(31 * 30);
  });

  it('has views from memory, and rentals at their time, without a rental that a fork took back [REG-155]', async () => {
    const { row } = await listed();
    const noted = createNotedCounts(database.db, pino({ level: 'silent' }));
    for (let view = 0; view < 3; view += 1) noted.noteView(row.id);
    noted.noteRefusal(row.id, 'no_slot');
    await noted.flush();
    const rent = async (age: string) => {
      const address = newWallet();
      await sql`insert into credentials (address, buyer, listing_address, rental_model, valid, purchased_at, slot)
        values (${address}, ${newWallet()}, ${row.address}, 'one_time', true, now() - ${age}::interval, 1)`.execute(
        database.db,
      );
      return address;
    };
    await rent('1 minute');
    await rent('3 days');
    const dropped = await rent('2 minutes');
    // Seen again, as after a renewal.
    await sql`update credentials set slot = 2 where listing_address = ${row.address}`.execute(database.db);
    await database.db.deleteFrom('credentials').where('address', '=', dropped).execute();
    for (const isFolded of [false, true]) {
      if (isFolded) await foldCounts(database.db);
      expect(await read(row)).toMatchObject({ views: 3, rentals: 1, runs: { total: 0 } });
      expect(await read(row, '7d')).toMatchObject({ views: 3, rentals: 2, refusals: { no_slot: 1 } });
    }
  });

  it('gives the median that the listing shows, and counts it anew after an hour [LST-55]', async () => {
    const { row, end } = await listed();
    const shown = async () =>
      (
        await database.db
          .selectFrom('listings')
          .select('median_ms')
          .where('id', '=', row.id)
          .executeTakeFirst()
      )?.median_ms;
    expect(await shown()).toBeNull();
    for (const durationMs of [200, 2_000, 20_000]) await end({ durationMs });
    await foldCounts(database.db);
    const { duration_ms: given } = await read(row, '30d');
    expect(await shown()).toBe(given.p50);
    for (const durationMs of [30_000, 31_000, 32_000, 33_000]) await end({ durationMs });
    await foldCounts(database.db);
    expect(await shown()).toBe(given.p50);
    await sql`update listings set median_at = now() - interval '61 minutes' where id = ${row.id}`.execute(
      database.db,
    );
    await end({ durationMs: 34_000 });
    await foldCounts(database.db);
    expect(await shown()).toBe((await read(row, '30d')).duration_ms.p50);
    expect(await shown()).toBeGreaterThan(25_000);
  });

  it('has refusals by what refused, from memory by one statement, and again when that failed [REG-140]', async () => {
    const { row } = await listed();
    const other = (await listed()).row;
    const noted = createNotedCounts(database.db, pino({ level: 'silent' }));
    for (const reason of ['no_slot', 'no_slot', 'insufficient_balance'] as const) {
      noted.noteRefusal(row.id, reason);
    }
    noted.noteRefusal(other.id, 'rate_limit');
    expect((await read(row)).refusals).toEqual({ no_slot: 0, rate_limit: 0, insufficient_balance: 0 });
    const counted = database.db
      .selectFrom('listing_run_deltas')
      .select('seq')
      .where('measure', '=', 'refused');
    expect(await counted.execute()).toEqual([]);
    await sql`alter table listing_run_deltas rename to away`.execute(database.db);
    await noted.flush();
    await sql`alter table away rename to listing_run_deltas`.execute(database.db);
    // Stopping appends the rest.
    await noted.start().stop();
    const seen = { no_slot: 2, rate_limit: 0, insufficient_balance: 1 };
    expect((await read(row)).refusals).toEqual(seen);
    await foldCounts(database.db);
    expect((await read(row)).refusals).toEqual(seen);
    expect((await read(other)).refusals).toMatchObject({ rate_limit: 1 });
    expect((await read(row)).runs.total).toBe(0);
  });
});
