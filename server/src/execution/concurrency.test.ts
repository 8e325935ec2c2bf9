import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '../platform/api-error.js';
import { deriveKeys } from '../platform/keys.js';
import {
  insertListing,
  insertRun,
  newWallet,
  openTestDatabase,
  type TemporaryDatabase,
} from '../testing/index.js';
import { createRunRepository, type RunRepository } from './run-repository.js';
import { createSeats, type Seats } from './seats.js';

let database: TemporaryDatabase;
let seats: Seats;
let runs: RunRepository;
beforeAll(async () => {
  database = await openTestDatabase();
  seats = createSeats(database.db);
  runs = createRunRepository(database.db, deriveKeys(new Uint8Array(32).fill(9)));
});
afterAll(() => database.close());

describe('the seats of a listing', () => {
  const newRuns = async (count: number) => {
    const listing = await insertListing(database.db);
    const ids = await Promise.all(
      Array.from({ length: count }, () => insertRun(database.db, listing, newWallet())),
    );
    return { id: listing.id, ids };
  };
  const take = async (listingId: string, runId: string): Promise<boolean> => {
    try {
      await seats.take(listingId, runId, 60);
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      expect(error).toMatchObject({ code: 'rate_limit_exceeded', retryAfterSeconds: 5 });
      return false;
    }
  };

  it('are exactly twenty, for sixty who ask at once [EXE-27]', async () => {
    const { id, ids } = await newRuns(60);
    const taken = await Promise.all(ids.map((run) => take(id, run)));
    expect(taken.filter(Boolean)).toHaveLength(20);
    const rows = await database.db.selectFrom('seats').selectAll().where('listing_id', '=', id).execute();
    expect(rows).toHaveLength(20);
  });

  it('are free again when a run ends, or its lease does', async () => {
    const { id, ids } = await newRuns(23);
    await Promise.all(ids.slice(0, 20).map((run) => take(id, run)));
    expect(await take(id, ids[20] ?? '')).toBe(false);
    await seats.free(ids[0] ?? '');
    expect(await take(id, ids[20] ?? '')).toBe(true);
    expect(await take(id, ids[21] ?? '')).toBe(false);
    await database.db
      .updateTable('seats')
      .set({ expires_at: new Date(Date.now() - 1) })
      .where('run_id', '=', ids[1] ?? '')
      .execute();
    expect(await take(id, ids[21] ?? '')).toBe(true);
    expect(await take(id, ids[22] ?? '')).toBe(false);
  });

  it('last longer than the run may', async () => {
    const { id, ids } = await newRuns(1);
    await seats.take(id, ids[0] ?? '', 300);
    const { expires_at: end } = await database.db
      .selectFrom('seats')
      .select('expires_at')
      .where('listing_id', '=', id)
      .executeTakeFirstOrThrow();
    expect(end.getTime()).toBeGreaterThan(Date.now() + 300_000);
  });

  it('of another listing are others', async () => {
    const full = await newRuns(20);
    const empty = await newRuns(1);
    await Promise.all(full.ids.map((run) => take(full.id, run)));
    expect(await take(empty.id, empty.ids[0] ?? '')).toBe(true);
  });
});

describe('a finished run', () => {
  it('is its wallet’s alone, sealed in the database, and counted for its listing [RUN-17]', async () => {
    const listing = await insertListing(database.db);
    const wallet = newWallet();
    const ids = [
      await insertRun(database.db, listing, wallet),
      await insertRun(database.db, listing, wallet),
    ] as const;
    const end = { agentId: listing.id, costLamports: 0n, durationMs: 12 };
    await runs.finish({ ...end, runId: ids[0], status: 'completed', output: { secret: 'SECRET-OUTPUT' } });
    await runs.finish({ ...end, runId: ids[1], status: 'failed', output: 'It did not work.' });
    const found = await runs.find(ids[0], wallet);
    expect(found && runs.toFinished(found)?.output).toEqual({ secret: 'SECRET-OUTPUT' });
    expect(await runs.find(ids[0], newWallet())).toBeUndefined();
    const row = await database.db
      .selectFrom('runs')
      .selectAll()
      .where('id', '=', ids[0])
      .executeTakeFirstOrThrow();
    expect(row.output?.includes('SECRET-OUTPUT')).toBe(false);
    const counted = await database.db
      .selectFrom('listings')
      .select(['run_count', 'completed_count'])
      .where('id', '=', listing.id)
      .executeTakeFirstOrThrow();
    expect(counted).toEqual({ run_count: 2, completed_count: 1 });
    const again = { ...end, runId: ids[0], status: 'failed' as const, output: 'late' };
    await expect(runs.finish(again)).rejects.toThrow('had ended already');
  });

  it('is told from one whose process is gone: that has no live seat', async () => {
    const listing = await insertListing(database.db);
    const [alive, dead] = [
      await insertRun(database.db, listing, newWallet()),
      await insertRun(database.db, listing, newWallet()),
    ];
    await seats.take(listing.id, alive, 60);
    await runs.markInterrupted(60_000);
    expect(await runs.wasUndelivered(dead)).toBe(false);
    await runs.markInterrupted(0);
    expect(await runs.wasUndelivered(dead)).toBe(true);
    expect(await runs.wasUndelivered(alive)).toBe(false);
  });
});
