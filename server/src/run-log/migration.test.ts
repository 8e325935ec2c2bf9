import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate } from '../database/migrate.js';
import {
  insertListing,
  insertRun,
  newWallet,
  openEmptyDatabase,
  type TemporaryDatabase,
} from '../testing/index.js';

let database: TemporaryDatabase;
beforeAll(async () => {
  database = await openEmptyDatabase();
});
afterAll(() => database.close());

it('runs that an earlier release ended without a charge are logged too [MON-8]', async () => {
  const { db } = database;
  await migrate(db, '0024-call-give-ups');
  const listing = await insertListing(db);
  const wallet = newWallet();
  const run = async (status: 'running' | 'completed', state?: 'finalized' | 'failed' | 'signed') => {
    const id = await insertRun(db, listing, wallet);
    if (state) {
      const charge = {
        wallet,
        listing_id: listing.id,
        balance_address: id,
        price_lamports: 1n,
        sequence: 1n,
      };
      await db
        .insertInto('charges')
        .values({ ...charge, run_id: id, state })
        .execute();
    }
    const finished_at = status === 'running' ? null : new Date();
    await db.updateTable('runs').set({ status, finished_at }).where('id', '=', id).execute();
    return id;
  };
  const logged = [await run('completed'), await run('completed', 'failed'), await run('completed', 'signed')];
  await run('completed', 'finalized');
  await run('running');
  expect(await migrate(db)).toContain('0025-run-log');
  const entries = await db.selectFrom('run_log_entries').select('run_id').orderBy('seq').execute();
  expect(entries.map(({ run_id: id }) => id)).toEqual(logged);
});
