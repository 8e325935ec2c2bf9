import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, it } from 'vitest';
import type { Owner } from '../../access/owner.js';
import { ApiError } from '../../errors/api-error.js';
import { deriveKeys } from '../../platform/keys.js';
import {
  insertListing,
  insertRun,
  loginOf,
  newKeyOf,
  newWallet,
  openTestDatabase,
} from '../../testing/index.js';
import { createListingRepository } from '../../listings/index.js';
import { createRunRepository } from './repository.js';
import { createSlotRepository } from '../queue/slot-repository.js';

const database = await openTestDatabase();
afterAll(() => database.close());
const slots = createSlotRepository(database.db, 'repository_test');
const runs = createRunRepository(database.db, deriveKeys(new Uint8Array(32).fill(9)));

describe('a run', () => {
  it('is seen by the key that began it and by the login, and read by no wallet alone [ID-76]', async () => {
    const listing = await insertListing(database.db);
    const wallet = newWallet();
    const [login, key, other] = [loginOf(wallet), newKeyOf(wallet), newKeyOf(wallet)];
    const begin = (owner: Owner) => {
      const run = { id: randomUUID(), listingId: listing.id, versionId: listing.version_id, owner };
      const bytes = {
        requestDigest: Buffer.alloc(32),
        salt: Buffer.alloc(16),
        inputDigest: Buffer.alloc(32),
      };
      return runs.begin({ ...run, ...bytes, key: { name: 'same', windowSeconds: undefined } });
    };
    for (const owner of [login, key, other]) {
      expect(await begin(owner)).toBeDefined();
      expect(await begin(owner), 'a repeat').toBeUndefined();
    }
    const { id = '' } = (await runs.findByKey(key, 'same')) ?? {};
    expect(await runs.find(id, key)).toMatchObject({ id, api_key_id: key.apiKeyId });
    expect(await runs.find(id, login)).toMatchObject({ id });
    expect(await runs.find(id, other)).toBeUndefined();
    await runs.cancelKey(other, 'same');
    expect(await Promise.all([login, key, other].map((owner) => runs.isKeyCancelled(owner, 'same')))).toEqual(
      [false, false, true],
    );
    // @ts-expect-error a wallet is no owner
    await runs.find(id, { wallet, apiKeyId: undefined, listingIds: undefined });
    // @ts-expect-error neither is its address
    expect(await runs.list.page(wallet, undefined, { limit: 1, offset: 0 })).toEqual([]);
  });
});

describe('a finished run', () => {
  it('is its wallet’s alone, sealed in the database, and counted for its listing [RUN-17]', async () => {
    const listing = await insertListing(database.db);
    const wallet = newWallet();
    const run = () => insertRun(database.db, listing, wallet);
    const ids = [await run(), await run()] as const;
    const end = { agentId: listing.id, costLamports: 0n, durationMs: 12 };
    await runs.finish({ ...end, runId: ids[0], status: 'completed', output: { secret: 'SECRET-OUTPUT' } });
    await runs.finish({ ...end, runId: ids[1], status: 'failed', output: 'It did not work.' });
    const found = await runs.find(ids[0], loginOf(wallet));
    expect(found && runs.toFinished(found)?.output).toEqual({ secret: 'SECRET-OUTPUT' });
    expect(await runs.find(ids[0], loginOf(newWallet()))).toBeUndefined();
    expect(found?.output?.includes('SECRET-OUTPUT')).toBe(false);
    const counted = await createListingRepository(database).findPublished(listing.id);
    expect(counted).toMatchObject({ run_count: 2, completed_count: 1 });
    const again = { ...end, runId: ids[0], status: 'failed' as const, output: 'late' };
    await expect(runs.finish(again)).rejects.toThrow('had ended already');
  });

  it('that was not delivered, and may be credited, lets no output leave any more [MON-1, MON-5]', async () => {
    const listing = await insertListing(database.db);
    const wallet = newWallet();
    const brokenOff = async (outputHasLeft: boolean) => {
      const run = await insertRun(database.db, listing, wallet);
      await runs.recordOutputLeft(run);
      const error = new ApiError('service_unavailable', 'It broke off.');
      await runs.markUndelivered(run, error, { outputHasLeft });
      return run;
    };
    const run = await brokenOff(false);
    // Its output was about to leave, which does not count.
    expect((await runs.find(run, loginOf(wallet)))?.output_left_at).toBeNull();
    await expect(runs.recordOutputLeft(run)).rejects.toThrow('was not delivered');
    expect((await runs.find(await brokenOff(true), loginOf(wallet)))?.output_left_at).toBeInstanceOf(Date);
  });

  it('is told from one whose process is gone: that has no live slot and no place in the queue', async () => {
    const listing = await insertListing(database.db);
    const run = () => insertRun(database.db, listing, newWallet());
    const [alive, dead, waiting] = [await run(), await run(), await run()];
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
