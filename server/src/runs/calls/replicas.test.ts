import type { Owner } from '../../access/owner.js';
import { sql } from 'kysely';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../errors/api-error.js';
import { createListingRepository } from '../../listings/index.js';
import { loginOf, newWallet, openTestDatabase } from '../../testing/index.js';
import type { Caller } from './waiting-callers.js';
import { removeExpired } from '../history/expiry.js';
import type { Task } from '../task.js';
import {
  ask,
  startAwaited,
  finish,
  never,
  newTask as newTaskIn,
  openReplica,
  patient,
  resultOf,
} from './replicas.test-support.js';

const database = await openTestDatabase();
const here = await openReplica(database.url);
const there = await openReplica(database.url);
afterAll(async () => {
  await Promise.all([here.close(), there.close()]);
  await database.close();
});

const newTask = (key: string | undefined, owner?: Owner) => newTaskIn(database.db, key, owner);

const endedBefore = (runId: string, seconds: number) =>
  database.db
    .updateTable('runs')
    .set({ finished_at: sql<Date>`now() - make_interval(secs => ${seconds})` })
    .where('id', '=', runId)
    .execute();
/** Waits until something of a task's run is so. */
const until = (task: Task, isSo: (row: Awaited<ReturnType<typeof here.runs.find>>) => unknown) =>
  vi.waitUntil(async () => isSo(await here.runs.find(task.runId, task.owner)), { timeout: 15_000 });
/** Waits until a caller is counted as waiting, or as gone. */
const waiters = (task: Task, count: number) => until(task, (row) => row?.waiters === count);
/** Asks ten times at once, on both replicas; gives the runs that answered, and the runs that worked. */
async function askAtOnce(again: () => Task): Promise<{ answered: Set<string>; worked: string[] }> {
  const worked: string[] = [];
  const runIds = await Promise.all(
    Array.from({ length: 10 }, async (_, index) => {
      const replica = index % 2 === 0 ? here : there;
      const task = again();
      const answer = await ask(replica, task);
      if (answer !== undefined) return answer.runId;
      await finish(replica, task);
      worked.push(task.runId);
      return task.runId;
    }),
  );
  return { answered: new Set(runIds), worked };
}

describe('a repeated request', () => {
  it('under the same key waits for the first run, on every replica, and gets its answer [RUN-3]', async () => {
    const { first, again } = await newTask('key-1');
    expect(await ask(here, first)).toBeUndefined();
    const waiting = [ask(here, again()), ask(there, again())];
    await waiters(first, 3);
    await finish(here, first);
    for (const answer of await Promise.all(waiting)) expect(answer).toEqual(resultOf(first));
    expect((await ask(there, again()))?.runId).toBe(first.runId);
  });

  it('begins once when many arrive together [RUN-3]', async () => {
    const { again } = await newTask('key-2');
    const { answered, worked } = await askAtOnce(() => again());
    expect(worked).toHaveLength(1);
    expect([...answered]).toEqual(worked);
  });

  it('with another body under the same key is refused, before and after the end [RUN-3]', async () => {
    const { first, again } = await newTask('key-3');
    await ask(here, first);
    const other = again({ task: 'Do something else.' });
    await expect(ask(here, other)).rejects.toMatchObject({ code: 'invalid_request' });
    await finish(here, first);
    await expect(ask(here, other)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('under the key of another owner, or without a key, is a separate run [RUN-3]', async () => {
    const [mine, yours] = [await newTask('key-4'), await newTask('key-4')];
    const keyless = await newTask(undefined);
    for (const task of [mine.first, yours.first, keyless.first, keyless.again()]) {
      expect(await ask(here, task)).toBeUndefined();
    }
  });

  it('that waits for a run which is not delivered gets its error, and the next one starts another run [RUN-18]', async () => {
    const { first, again } = await newTask('key-5');
    await ask(here, first);
    const refusal = ask(there, again()).catch((error: unknown) => error);
    await waiters(first, 2);
    await here.runs.markUndelivered(first.runId, new ApiError('service_unavailable', 'Ours.'), {
      outputHasLeft: false,
    });
    await here.changes.announce(first.runId);
    expect(await refusal).toMatchObject({ code: 'service_unavailable', message: 'Ours.' });
    expect(await ask(there, again())).toBeUndefined();
  });

  it('that waits for a run which was refused without a record is told to call again', async () => {
    const { first, again } = await newTask('key-7');
    await ask(here, first);
    const refusal = ask(there, again()).catch((error: unknown) => error);
    await waiters(first, 2);
    await here.runs.discard(first.runId, new ApiError('rate_limit_exceeded', 'Full.'));
    await here.changes.announce(first.runId);
    expect(await refusal).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 1 });
  });

  it('stops waiting when its caller goes away', async () => {
    const { first, again } = await newTask('key-6');
    await ask(here, first);
    const gone = AbortSignal.abort(new Error('gone'));
    await expect(ask(here, again(), { ...patient, gone })).rejects.toThrow('gone');
  });
});

describe('a key with a window', () => {
  const WINDOWED = 'equal;window=30';

  it('gives the run while it goes on, and its answer until the window has passed [RUN-24]', async () => {
    const { first, again } = await newTask(WINDOWED);
    expect(await ask(here, first)).toBeUndefined();
    const joined = ask(there, again());
    await waiters(first, 2);
    await finish(here, first);
    expect(await joined).toEqual(resultOf(first));
    await endedBefore(first.runId, 28);
    expect(await ask(there, again())).toEqual(resultOf(first));
    await endedBefore(first.runId, 31);
    const next = again();
    expect(await ask(there, next)).toBeUndefined();
    await finish(there, next, 'another answer');
    expect(await ask(here, again())).toEqual(resultOf(next, 'another answer'));
  });

  it('is one run for calls that come at once, on every replica, also after the window [RUN-24]', async () => {
    const { first, again } = await newTask(WINDOWED);
    await ask(here, first);
    await finish(here, first);
    await endedBefore(first.runId, 31);
    const { answered } = await askAtOnce(() => again());
    expect(answered.size).toBe(1);
    expect(answered).not.toContain(first.runId);
  });

  it('is free at once after its run was stopped [RUN-24]', async () => {
    const { first, again, owner } = await newTask(WINDOWED);
    const { answer } = await startAwaited(here, first);
    await there.pastRuns.cancel(first.runId, owner, never);
    await answer;
    expect(await ask(here, again())).toBeUndefined();
  });
});

describe('a cancel', () => {
  it('stops a run that works on another replica, and its waiting caller hears of it [RUN-11]', async () => {
    const { first, owner } = await newTask('cancel-1');
    const { answer: caller } = await startAwaited(there, first);
    const cancelled = await here.pastRuns.cancel(first.runId, owner, never);
    expect(cancelled).toMatchObject({ cancelled: true, run: { run_id: first.runId, status: 'failed' } });
    expect(await caller).toMatchObject({ status: 'failed', output: 'stopped' });
  });

  it('of another owner’s run says that there is none, and stops nothing', async () => {
    const { first, owner } = await newTask('cancel-2');
    await ask(here, first);
    const attempt = here.pastRuns.cancel(first.runId, loginOf(newWallet()), never);
    await expect(attempt).rejects.toMatchObject({ code: 'not_found' });
    expect((await here.runs.find(first.runId, owner))?.stop_reason).toBeNull();
  });

  it('of a run that has ended leaves it as it is', async () => {
    const { first, owner } = await newTask('cancel-3');
    await ask(here, first);
    await finish(here, first);
    const { cancelled, run } = await there.pastRuns.cancel(first.runId, owner, never);
    expect({ cancelled, status: run?.status }).toEqual({ cancelled: false, status: 'completed' });
  });

  it('by key refuses the request that comes later, and leaves no run', async () => {
    const { first, owner } = await newTask('cancel-4');
    expect(await here.pastRuns.cancelKey('cancel-4', owner, never)).toEqual({ cancelled: true });
    for (const replica of [here, there]) {
      await expect(ask(replica, first)).rejects.toMatchObject({ code: 'invalid_request' });
    }
    expect((await here.runs.find(first.runId, owner))?.status).toBe('undelivered');
  });

  it('by key and the request at the same moment: the run never goes on [RUN-11]', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { first, owner } = await newTask(`cancel-race-${round}`);
      const [started] = await Promise.allSettled([
        ask(here, first),
        there.pastRuns.cancelKey(`cancel-race-${round}`, owner, AbortSignal.abort()),
      ]);
      expect(await here.runs.find(first.runId, owner)).toMatchObject(
        started.status === 'rejected' ? { status: 'undelivered' } : { stop_reason: 'cancelled' },
      );
    }
  });

  it('does not count against the agent [RUN-22]', async () => {
    const { first, owner } = await newTask('cancel-5');
    const { answer } = await startAwaited(here, first);
    await here.pastRuns.cancel(first.runId, owner, never);
    await answer;
    const listing = await createListingRepository(database).findPublished(first.listing.id);
    expect(listing).toMatchObject({ run_count: 0, completed_count: 0 });
  });
});

describe('a caller that goes away', () => {
  const leaving = (caller: Partial<Caller> = {}) => {
    const connection = new AbortController();
    return {
      caller: { ...patient, gone: connection.signal, ...caller },
      leave: () => connection.abort(new Error('gone')),
    };
  };
  const stopReason = async (task: Task) => (await here.runs.find(task.runId, task.owner))?.stop_reason;

  it('without a key takes its run with it [RUN-13]', async () => {
    const { first } = await newTask(undefined);
    const { caller, leave } = leaving({ mayComeBack: false });
    const { answer } = await startAwaited(here, first, caller);
    leave();
    await expect(answer).rejects.toThrow('gone');
    await until(first, (row) => row?.status === 'failed');
    expect(await stopReason(first)).toBe('caller_left');
  });

  it('with a key leaves its run for a while, and then it stops [RUN-13]', async () => {
    const { first } = await newTask('gone-1');
    const { caller, leave } = leaving();
    const { answer } = await startAwaited(here, first, caller);
    leave();
    await expect(answer).rejects.toThrow('gone');
    await until(first, (row) => row?.stop_reason === 'caller_left');
  });

  it('that paid for its run in the request leaves it, and the run goes on', async () => {
    const { first } = await newTask('gone-paid');
    const { caller, leave } = leaving({ hasPaid: true });
    const { answer } = await startAwaited(here, first, caller);
    leave();
    await expect(answer).rejects.toThrow('gone');
    expect(await here.runs.requestStopIfLeft(first.runId, 0)).toBe(false);
    expect((await here.runs.find(first.runId, first.owner))?.status).toBe('running');
  });

  it.each(['repeats its request on another replica', 'asks for the run by its id'])(
    'with a key, and another request %s: the run goes on [RUN-13]',
    async (how) => {
      const { first, again, owner } = await newTask(`gone-${how.length}`);
      const { caller, leave } = leaving();
      const { answer } = await startAwaited(here, first, caller);
      // Asked while it is left: the grace finds that a caller wants it.
      const asked = how.startsWith('repeats')
        ? ask(there, again())
        : there.pastRuns.find(first.runId, owner, 0, never);
      if (how.startsWith('repeats')) await waiters(first, 2);
      else await asked;
      leave();
      await expect(answer).rejects.toThrow('gone');
      expect(await here.runs.requestStopIfLeft(first.runId, 0)).toBe(false);
      await here.pastRuns.cancel(first.runId, owner, never);
      await asked;
    },
  );

  it('that prefers an asynchronous answer gets it after its patience, and the run goes on [RUN-9, RUN-13]', async () => {
    const { first, owner } = await newTask('async-1');
    const { answer } = await startAwaited(here, first, { ...patient, patienceMs: 0 });
    expect(await answer).toEqual({ runId: first.runId, agentId: first.listing.id, status: 'running' });
    const row = await here.runs.find(first.runId, owner);
    expect(row).toMatchObject({ status: 'running', keeps_going: true, waiters: 0 });
    expect(await here.runs.requestStopIfLeft(first.runId, 0)).toBe(false);
    await here.pastRuns.cancel(first.runId, owner, never);
  });
});

describe('a long poll', () => {
  it('answers when the run ends on another replica [RUN-9]', async () => {
    const { first, owner } = await newTask('poll-1');
    await ask(there, first);
    const polled = here.pastRuns.find(first.runId, owner, 60_000, never);
    await until(first, (row) => row?.keeps_going);
    await finish(there, first);
    expect(await polled).toMatchObject({ status: 'completed', output: 'the answer' });
  });

  it('of a run that goes on answers so when its time has passed, or when its server stops', async () => {
    const { first, owner } = await newTask('poll-2');
    await ask(there, first);
    expect(await here.pastRuns.find(first.runId, owner, 1, never)).toMatchObject({ status: 'running' });
    const stopping = await openReplica(database.url);
    const polled = stopping.pastRuns.find(first.runId, owner, 60_000, never);
    await until(first, (row) => row?.keeps_going);
    stopping.changes.close();
    expect(await polled).toMatchObject({ status: 'running' });
    await stopping.close();
  });
});

it('a result whose charge is not confirmed yet is held back, survives the loss of its process, and goes once it is paid [RUN-17]', async () => {
  const { first, owner } = await newTask('held-1');
  await ask(here, first);
  await here.runs.hold(resultOf(first));
  expect(await there.pastRuns.find(first.runId, owner, 0, never)).toMatchObject({ status: 'running' });
  await there.runs.markInterrupted(0);
  expect(await there.runs.finishHeld(first.runId)).toBe(true);
  expect(await here.pastRuns.find(first.runId, owner, 0, never)).toMatchObject({ output: 'the answer' });
  expect(await there.runs.finishHeld(first.runId)).toBe(false);
});

it('a result is removed after 24 hours; its run and its key are remembered [RUN-17]', async () => {
  const { first, again, owner } = await newTask('old-1');
  await ask(here, first);
  await finish(here, first);
  await removeExpired(database.db);
  expect(await here.pastRuns.find(first.runId, owner, 0, never)).toMatchObject({ output: 'the answer' });
  await endedBefore(first.runId, 24 * 3_600 + 1);
  await removeExpired(database.db);
  expect((await here.runs.find(first.runId, owner))?.output).toBeNull();
  await expect(here.pastRuns.find(first.runId, owner, 0, never)).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('the newest 64 MiB of each wallet and each listing') as string,
  });
  await expect(ask(here, again())).rejects.toMatchObject({ code: 'invalid_request' });
});
