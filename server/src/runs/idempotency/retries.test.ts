import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newWallet, openTestDatabase, type TemporaryDatabase } from '../../testing/index.js';
import type { Task } from '../pipeline/parse.js';
import { finish, newTask, openReplica, type Replica } from './replicas.test-support.js';
import { callScope, createRetries, type CallScope, type Retries } from './retries.js';

let database: TemporaryDatabase;
let replica: Replica;
let retries: Retries;
beforeAll(async () => {
  database = await openTestDatabase();
  replica = await openReplica(database.url);
  retries = createRetries(database.db);
});
afterAll(async () => {
  await replica.close();
  await database.close();
});

const AT_ONCE_MS = 0;

/** A run of a call in a session, that began some seconds ago and, if told, took some. */
async function earlierCall({ ageSeconds, tookSeconds }: { ageSeconds: number; tookSeconds?: number }) {
  const { first, again } = await newTask(database.db, undefined);
  const scope = callScope(`key-${newWallet()}`, 'session-1');
  await replica.idempotency.begin(first, { callScope: scope.digest });
  if (tookSeconds !== undefined) await finish(replica, first);
  const begunAt = Date.now() - ageSeconds * 1_000;
  await database.db
    .updateTable('runs')
    .set({
      created_at: new Date(begunAt),
      ...(tookSeconds === undefined ? {} : { finished_at: new Date(begunAt + tookSeconds * 1_000) }),
    })
    .where('id', '=', first.runId)
    .execute();
  return { first, again, scope };
}

const find = (scope: CallScope, task: Task, elapsedMs = AT_ONCE_MS) =>
  retries.find(scope, task.digest, elapsedMs);

describe('an equal call of a session is the retry of one', () => {
  it.each([
    ['that still runs and began 2 s before', { ageSeconds: 2.1 }, true],
    ['that still runs and began minutes before', { ageSeconds: 240 }, true],
    ['that took more than 4 s and has just ended', { ageSeconds: 6, tookSeconds: 5.5 }, true],
    ['that took more than 4 s and ended 29 s before', { ageSeconds: 34, tookSeconds: 5 }, true],
    ['but not of one that began at the same time', { ageSeconds: 1.5 }, false],
    ['but not of one that was answered quickly', { ageSeconds: 6, tookSeconds: 3 }, false],
    ['but not of one that ended 31 s before', { ageSeconds: 40, tookSeconds: 9 }, false],
  ])('%s [RUN-24]', async (_name, times, isRetry) => {
    const { first, again, scope } = await earlierCall(times);
    const { retried } = await find(scope, again({}, 'another-key'));
    expect(retried?.runId).toBe(isRetry ? first.runId : undefined);
  });

  it('unless its task, its session or its caller is another [RUN-24]', async () => {
    const { again, scope } = await earlierCall({ ageSeconds: 5 });
    const nothing = { retried: undefined };
    expect(await find(scope, again({ task: 'Something else.' }))).toMatchObject(nothing);
    expect(await find(callScope(scope.caller, 'session-2'), again())).toMatchObject(nothing);
    expect(await find(callScope('another-key', 'session-1'), again())).toMatchObject(nothing);
  });

  it('unless that one was cancelled [RUN-24]', async () => {
    const { first, again, scope } = await earlierCall({ ageSeconds: 5 });
    await replica.runs.requestStop(first.runId, 'cancelled');
    expect((await find(scope, again())).retried).toBeUndefined();
  });

  it('by the time when it was received, however long it waited before it was looked at [RUN-24]', async () => {
    const { again, scope } = await earlierCall({ ageSeconds: 3 });
    expect((await find(scope, again(), 900)).retried).toBeDefined();
    expect((await find(scope, again(), 1_100)).retried).toBeUndefined();
  });
});

it('an equal call gets the answer that may not have been read, once, within 30 s [RUN-24]', async () => {
  const { first, again, scope } = await earlierCall({ ageSeconds: 1, tookSeconds: 0.5 });
  const retriedOf = async () => (await find(scope, again())).retried?.runId;
  expect(await retriedOf()).toBeUndefined();
  await retries.recordCut(first.runId);
  expect(await retriedOf()).toBe(first.runId);
  await retries.recordTaken(first.runId);
  expect(await retriedOf()).toBeUndefined();
  await database.db
    .updateTable('runs')
    .set({ answer_cut_at: new Date(Date.now() - 31_000) })
    .where('id', '=', first.runId)
    .execute();
  expect(await retriedOf()).toBeUndefined();
});

it('a call is told that an equal one of its session was answered within the last second', async () => {
  const { first, again, scope } = await earlierCall({ ageSeconds: 1, tookSeconds: 0.5 });
  expect((await find(scope, again())).isJustAnswered).toBe(false);
  await replica.deliveryTracking.delivered(first.runId);
  expect((await find(scope, again())).isJustAnswered).toBe(true);
  expect((await find(callScope('another-key', 'session-1'), again())).isJustAnswered).toBe(false);
});

it('a call that follows at once knows of a cut that is still being written [RUN-24]', async () => {
  const { first, again, scope } = await earlierCall({ ageSeconds: 1, tookSeconds: 0.5 });
  const { asked, written } = await database.db.transaction().execute(async (other) => {
    // Writers wait for this transaction, readers do not.
    await sql`lock table runs in share row exclusive mode`.execute(other);
    const cut = retries.recordCut(first.runId);
    const found = find(scope, again());
    await sql`select pg_sleep(0.05)`.execute(other);
    return { asked: found, written: cut };
  });
  expect((await asked).retried?.runId).toBe(first.runId);
  await written;
});

it('a caller that called again while its run went on is known for a day, in all its sessions', async () => {
  const { first, again, scope } = await earlierCall({ ageSeconds: 5 });
  expect(await find(scope, again())).toMatchObject({ isImpatient: false });
  await retries.recordRetry(first.runId, scope.caller);
  expect(await find(callScope(scope.caller, 'session-2'), again())).toEqual({
    retried: undefined,
    isImpatient: true,
    isJustAnswered: false,
  });
  expect(await retries.isImpatient(scope.caller)).toBe(true);
  await database.db
    .updateTable('runs')
    .set({ retried_at: new Date(Date.now() - 25 * 3_600_000) })
    .where('id', '=', first.runId)
    .execute();
  expect(await retries.isImpatient(scope.caller)).toBe(false);
});
