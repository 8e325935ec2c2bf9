import { afterAll, expect, it } from 'vitest';
import type { ChargeState } from '../database/charge-states.js';
import { insertCharge, insertListing, insertRun, newWallet, openTestDatabase } from '../testing/index.js';
import { createChargeStates } from './charge-states.js';
import { createCredits } from './credits.js';

const database = await openTestDatabase();
afterAll(() => database.close());
const states = createChargeStates(database.db, { unfinalizedCapLamports: 10n ** 18n });
const credits = createCredits(database.db);
const listing = await insertListing(database.db);

/** A run of that wallet with a charge in that state. */
const chargedRun = async (state: ChargeState, wallet = newWallet()) => ({
  runId: await insertCharge(database.db, listing, state, { wallet }),
  wallet,
});

const endRun = (runId: string, status: 'undelivered' | 'completed') =>
  database.db.updateTable('runs').set({ status, finished_at: new Date() }).where('id', '=', runId).execute();

const stateOf = async (runId: string) =>
  (await database.db.selectFrom('charges').select('state').where('run_id', '=', runId).executeTakeFirst())
    ?.state;

const queued = async () =>
  (await database.db.selectFrom('undelivered_runs').select('run_id').execute()).map(({ run_id: id }) => id);

/** Makes queued runs due, as if time had passed. */
const passTime = (minutes: number) =>
  database.db
    .updateTable('undelivered_runs')
    .set({ next_attempt_at: new Date(), noted_at: new Date(Date.now() - minutes * 60_000) })
    .execute();

it('a run stays queued while its charge is open, and leaves the queue once it is credited', async () => {
  const { runId, wallet } = await chargedRun('confirmed');
  await endRun(runId, 'undelivered');
  await passTime(11);
  await states.creditUndelivered();
  expect(await queued()).toContain(runId);
  await states.finalize(runId);
  await states.creditUndelivered();
  expect(await stateOf(runId)).toBe('credited');
  expect(await credits.has(wallet, listing.id)).toBe(true);
  await passTime(11);
  await states.creditUndelivered();
  expect(await queued()).not.toContain(runId);
});

it('a run whose charge becomes final long after its end is queued again, and credited', async () => {
  const { runId } = await chargedRun('failed');
  await endRun(runId, 'undelivered');
  await passTime(11);
  await states.creditUndelivered();
  expect(await queued()).not.toContain(runId);
  await states.recordTaken(runId);
  await states.creditUndelivered();
  expect(await stateOf(runId)).toBe('credited');
});

it('a run gives back a credit that it took after it was found undelivered', async () => {
  const given = await chargedRun('finalized');
  await endRun(given.runId, 'undelivered');
  await states.creditUndelivered();
  const late = await insertRun(database.db, listing, given.wallet);
  await endRun(late, 'undelivered');
  await passTime(11);
  await credits.giveBackUndelivered();
  await states.creditUndelivered();
  expect(await queued()).not.toContain(late);
  await database.db
    .updateTable('credits')
    .set({ used_by_run_id: late })
    .where('run_id', '=', given.runId)
    .execute();
  expect(await credits.has(given.wallet, listing.id)).toBe(false);
  await credits.giveBackUndelivered();
  expect(await credits.has(given.wallet, listing.id)).toBe(true);
});

it('a delivered run is not queued, nor one of which output has left', async () => {
  const completed = await chargedRun('confirmed');
  await endRun(completed.runId, 'completed');
  await states.finalize(completed.runId);
  const streamed = await chargedRun('confirmed');
  await database.db
    .updateTable('runs')
    .set({ output_left_at: new Date() })
    .where('id', '=', streamed.runId)
    .execute();
  await endRun(streamed.runId, 'undelivered');
  await states.finalize(streamed.runId);
  expect(await queued()).not.toContain(completed.runId);
  expect(await queued()).not.toContain(streamed.runId);
});

it('runs beyond the credits of a day wait, and hold up no other wallet', async () => {
  const wallet = newWallet();
  const many = [];
  for (let count = 0; count < 7; count += 1) many.push(await chargedRun('finalized', wallet));
  for (const { runId } of many) await endRun(runId, 'undelivered');
  await states.creditUndelivered();
  const statesOfMany = await Promise.all(many.map(({ runId }) => stateOf(runId)));
  expect(statesOfMany.filter((state) => state === 'credited')).toHaveLength(5);
  const other = await chargedRun('finalized');
  await endRun(other.runId, 'undelivered');
  await states.creditUndelivered();
  expect(await stateOf(other.runId)).toBe('credited');
  // The next day.
  await database.db
    .updateTable('credits')
    .set({ created_at: new Date(Date.now() - 25 * 3_600_000) })
    .where('wallet', '=', wallet)
    .execute();
  await passTime(11);
  await states.creditUndelivered();
  expect(await Promise.all(many.map(({ runId }) => stateOf(runId)))).toEqual(many.map(() => 'credited'));
});
