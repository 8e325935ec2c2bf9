import { pino } from 'pino';
import { afterAll, expect, it } from 'vitest';
import { deriveKeys } from '../../platform/keys.js';
import { loginOf, openTestDatabase } from '../../testing/index.js';
import { never, newListing, openReplica } from '../queue/slots.test-support.js';
import { createUnrecordedEnds } from './unrecorded-ends.js';
import { createRunRepository } from './repository.js';

const database = await openTestDatabase();
const replica = await openReplica(database.url);
const runs = createRunRepository(database.db, deriveKeys(new Uint8Array(32).fill(9)));
afterAll(async () => {
  await replica.close();
  await database.close();
});

it('ends runs and frees their slots once the database is there again, and leaves ended runs [OPS-52]', async () => {
  const listing = await newListing(database.db, replica);
  const [working, ended, lost] = await Promise.all([listing.request(), listing.request(), listing.request()]);
  for (const request of [working, ended, lost]) await replica.slots.take(request, never);
  await runs.finish({
    runId: ended.runId,
    agentId: listing.id,
    status: 'completed',
    output: 'done',
    costLamports: 0n,
    durationMs: 1,
  });
  let attempts = 0;
  const unrecordedEnds = createUnrecordedEnds({
    runs: {
      async markLost(runIds) {
        attempts += 1;
        if (attempts === 1) throw new Error('The database is out.');
        return runs.markLost(runIds);
      },
    },
    slots: replica.slots,
    changes: replica.changes,
    logger: pino({ level: 'silent' }),
  });
  const rounds = unrecordedEnds.start();
  for (const { runId } of [ended, lost]) unrecordedEnds.note(runId);
  await expect.poll(() => listing.count('seats')).toBe(1);
  await rounds.stop();
  const statusOf = async ({ runId, wallet }: typeof lost) =>
    (await runs.find(runId, loginOf(wallet)))?.status;
  expect(await statusOf(lost)).toBe('undelivered');
  expect(await statusOf(ended)).toBe('completed');
  expect(await statusOf(working)).toBe('running');
  expect(attempts).toBe(2);
});
