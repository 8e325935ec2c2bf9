import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, expect, it } from 'vitest';
import { insertCharge, insertListing, openTestDatabase } from '../../testing/index.js';
import { createChargeRepository } from '../charge-repository.js';
import { createChargeStates } from '../charge-states.js';

const database = await openTestDatabase();
afterAll(() => database.close());

/** A charge that is signed in two transactions; gives its run. */
async function signedCharge(): Promise<string> {
  const { db } = database;
  const runId = await insertCharge(db, await insertListing(db), 'reserved');
  const states = createChargeStates(db, { unfinalizedCapLamports: 100n });
  for (const signature of [randomUUID(), randomUUID()]) {
    await states.sign([runId], { signature, signedBytes: randomBytes(300), lastValidBlockHeight: 1n });
  }
  return runId;
}

/** The bytes of a run's transactions, by their lengths; null where they were dropped. */
async function byteCountsOf(runId: string): Promise<(number | null)[]> {
  const rows = await database.db
    .selectFrom('charge_signatures')
    .select('signed_bytes')
    .where('run_id', '=', runId)
    .execute();
  return rows.map(({ signed_bytes: bytes }) => bytes?.length ?? null);
}

it('the bytes of a charge are dropped once it is final, and its signatures stay for its receipt', async () => {
  const states = createChargeStates(database.db, { unfinalizedCapLamports: 100n });
  const charges = createChargeRepository(database.db);
  const [final, open, failed] = [await signedCharge(), await signedCharge(), await signedCharge()];
  for (const runId of [final, open]) await states.confirm(runId);
  expect(await byteCountsOf(final)).toEqual([300, 300]);
  await states.finalize(final);
  await states.end(failed, undefined);
  expect(await byteCountsOf(final)).toEqual([null, null]);
  expect(await charges.signaturesOf(final)).toHaveLength(2);
  // Bytes that may be sent again, and refused ones, stay.
  expect(await byteCountsOf(open)).toEqual([300, 300]);
  expect(await byteCountsOf(failed)).toEqual([300, 300]);
  // A final transaction of a charge that had ended was found.
  await states.recordTaken(failed);
  expect(await byteCountsOf(failed)).toEqual([null, null]);
  const due = (await charges.takeDue(1_000)).find(({ charge }) => charge.run_id === open);
  expect(due?.signatures.map(({ signedBytes }) => signedBytes.length)).toEqual([300, 300]);
});
