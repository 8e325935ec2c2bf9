import { afterAll, describe, expect, it } from 'vitest';
import { ApiError } from '../../errors/api-error.js';
import { deriveKeys } from '../../platform/keys.js';
import { insertListing, insertRun, newWallet, openTestDatabase } from '../../testing/index.js';
import { createListingRepository } from '../../listings/index.js';
import { createRunRepository } from './repository.js';
import { createSlotRepository } from '../queue/slot-repository.js';

const database = await openTestDatabase();
afterAll(() => database.close());
const slots = createSlotRepository(database.db, 'repository_test');
const runs = createRunRepository(database.db, deriveKeys(new Uint8Array(32).fill(9)));

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
    const counted = await createListingRepository(database).findPublished(listing.id);
    expect(counted).toMatchObject({ run_count: 2, completed_count: 1 });
    const again = { ...end, runId: ids[0], status: 'failed' as const, output: 'late' };
    await expect(runs.finish(again)).rejects.toThrow('had ended already');
  });

  it('that was not delivered, and may be credited, lets no output leave any more [MON-1]', async () => {
    const listing = await insertListing(database.db);
    const run = await insertRun(database.db, listing, newWallet());
    const brokeOff = new ApiError('service_unavailable', 'It broke off.');
    await runs.markUndelivered(run, brokeOff, { outputHasLeft: false });
    await expect(runs.recordOutputLeft(run)).rejects.toThrow('was not delivered');
  });

  it('of which no output left does not count as one whose output was about to leave [MON-5, MON-1]', async () => {
    const listing = await insertListing(database.db);
    const leftAt = async (outputHasLeft: boolean) => {
      const wallet = newWallet();
      const run = await insertRun(database.db, listing, wallet);
      await runs.recordOutputLeft(run);
      await runs.markUndelivered(run, new ApiError('service_unavailable', 'It broke off.'), {
        outputHasLeft,
      });
      return (await runs.find(run, wallet))?.output_left_at;
    };
    expect(await leftAt(false)).toBeNull();
    expect(await leftAt(true)).toBeInstanceOf(Date);
  });

  it('is told from one whose process is gone: that has no live slot and no place in the queue', async () => {
    const listing = await insertListing(database.db);
    const [alive, dead] = [
      await insertRun(database.db, listing, newWallet()),
      await insertRun(database.db, listing, newWallet()),
    ];
    const waiting = await insertRun(database.db, listing, newWallet());
    const bounds = { slots: 1, queueLength: 2, ownLength: 2, leaseMs: 60_000, claimMs: 60_000 };
    const request = { listingId: listing.id, wallet: newWallet(), isPriority: false };
    expect(await slots.enter({ ...request, runId: alive }, bounds)).toBe('seated');
    expect(await slots.enter({ ...request, runId: waiting }, bounds)).toBe('waiting');
    await runs.markInterrupted(60_000);
    expect(await runs.wasUndelivered(dead)).toBe(false);
    await runs.markInterrupted(0);
    expect(await runs.wasUndelivered(dead)).toBe(true);
    expect(await runs.wasUndelivered(alive)).toBe(false);
    expect(await runs.wasUndelivered(waiting)).toBe(false);
  });
});
