import { randomUUID } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import { insertCharge, insertListing, insertRun, newWallet, openTestDatabase } from '../../testing/index.js';
import { createRunProgress } from './run-progress.js';

const database = await openTestDatabase();
afterAll(() => database.close());
const { db } = database;
const progressOf = createRunProgress(db);
const listing = await insertListing(db);
const rowOf = (id: string) =>
  db.selectFrom('runs').selectAll().where('id', '=', id).executeTakeFirstOrThrow();

it.each([
  ['reserved', 'started'],
  ['signed', 'charging'],
  ['confirmed', 'charged'],
  ['finalized', 'charged'],
] as const)('a run whose charge is %s has reached the step %s [RUN-9]', async (state, step) => {
  expect(await progressOf(await rowOf(await insertCharge(db, listing, state)))).toEqual({ step });
});

it('a run tells that it waits, that its output is held, and nothing once it has ended [RUN-9]', async () => {
  const id = await insertRun(db, listing, newWallet());
  const place = { run_id: id, listing_id: listing.id, wallet: newWallet(), is_priority: false, turn: 1n };
  await db
    .insertInto('seat_line')
    .values({ ...place, expires_at: new Date(Date.now() + 60_000) })
    .execute();
  const row = await rowOf(id);
  expect(await progressOf(row)).toEqual({ step: 'queued' });
  expect(await progressOf({ ...row, outcome: 'completed' })).toEqual({ step: 'held' });
  expect(await progressOf({ ...row, status: 'completed' })).toEqual({});
});

it('a run names the key that began it, also once it has ended [RUN-9]', async () => {
  const wallet = newWallet();
  const id = randomUUID();
  const key = { id, wallet, label: 'my script', digest: Buffer.from(id), policy: null };
  await db
    .insertInto('api_keys')
    .values({ ...key, revoked_at: null, app: null })
    .execute();
  const row = { ...(await rowOf(await insertRun(db, listing, wallet))), api_key_id: key.id };
  expect(await progressOf({ ...row, status: 'completed' })).toEqual({ apiKeyLabel: 'my script' });
  expect(await progressOf(row)).toEqual({ step: 'started', apiKeyLabel: 'my script' });
});
