import type { ExecuteBody } from '@agent-rental/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiError } from '../platform/api-error.js';
import { deriveKeys } from '../platform/keys.js';
import {
  insertListing,
  insertRun,
  newWallet,
  openTestDatabase,
  publishedListing,
  type TemporaryDatabase,
} from '../testing/index.js';
import { parseTask, type Task } from './parse.js';
import { createRepeats } from './repeats.js';
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

describe('a repeated request', () => {
  const newTask = async (key: string | undefined, wallet = newWallet(), body: Partial<ExecuteBody> = {}) => {
    const row = await insertListing(database.db);
    const listing = publishedListing({ id: row.version_id }, { id: row.id });
    const again = (changed: Partial<ExecuteBody> = {}): Task =>
      parseTask(wallet, { agent_id: row.id, task: 'Do it.', ...body, ...changed }, key, listing);
    return { first: again(), again };
  };
  const finish = (task: Task, output: string) =>
    runs.finish({
      runId: task.runId,
      agentId: task.listing.id,
      status: 'completed',
      output,
      costLamports: 5n,
      durationMs: 1,
    });
  const never = new AbortController().signal;

  it('under the same key waits for the first run and gets its answer [RUN-3]', async () => {
    const repeats = createRepeats(runs);
    const { first, again } = await newTask('key-1');
    expect(await repeats.begin(first, never)).toBeUndefined();
    const waiting = [again(), again()].map((task) => repeats.begin(task, never));
    await finish(first, 'the answer');
    for (const answer of await Promise.all(waiting)) {
      expect(answer).toEqual({
        runId: first.runId,
        agentId: first.listing.id,
        status: 'completed',
        output: 'the answer',
        costLamports: 5n,
        durationMs: 1,
      });
    }
    expect((await repeats.begin(again(), never))?.runId).toBe(first.runId);
  });

  it('begins once when many arrive together [RUN-3]', async () => {
    const repeats = createRepeats(runs);
    const { again } = await newTask('key-2');
    const tasks = Array.from({ length: 10 }, () => again());
    const answers = await Promise.all(
      tasks.map(async (task) => {
        const repeated = await repeats.begin(task, never);
        if (repeated) return repeated.runId;
        await finish(task, 'once');
        return `began ${task.runId}`;
      }),
    );
    const began = answers.filter((answer) => answer.startsWith('began'));
    expect(began).toHaveLength(1);
    expect(new Set(answers.map((answer) => answer.replace('began ', ''))).size).toBe(1);
  });

  it('with another body under the same key is refused, before and after the end [RUN-4]', async () => {
    const repeats = createRepeats(runs);
    const { first, again } = await newTask('key-3');
    await repeats.begin(first, never);
    const other = again({ task: 'Do something else.' });
    await expect(repeats.begin(other, never)).rejects.toMatchObject({ code: 'invalid_request' });
    await finish(first, 'done');
    await expect(repeats.begin(other, never)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('under the key of another wallet is a run of its own [RUN-5]', async () => {
    const repeats = createRepeats(runs);
    const mine = await newTask('key-4');
    const yours = await newTask('key-4');
    expect(await repeats.begin(mine.first, never)).toBeUndefined();
    expect(await repeats.begin(yours.first, never)).toBeUndefined();
  });

  it('without a key is a run of its own', async () => {
    const repeats = createRepeats(runs);
    const { first, again } = await newTask(undefined);
    expect(await repeats.begin(first, never)).toBeUndefined();
    expect(await repeats.begin(again(), never)).toBeUndefined();
  });

  it('begins anew after a run that was never delivered [RUN-18]', async () => {
    const repeats = createRepeats(runs);
    const { first, again } = await newTask('key-5');
    await repeats.begin(first, never);
    const second = repeats.begin(again(), never);
    await runs.markUndelivered(first.runId);
    expect(await second).toBeUndefined();
    expect(await runs.wasUndelivered(first.runId)).toBe(true);
  });

  it('stops waiting when its caller goes away', async () => {
    const repeats = createRepeats(runs);
    const { first, again } = await newTask('key-6');
    await repeats.begin(first, never);
    await expect(repeats.begin(again(), AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
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
    expect((await runs.find(ids[0], wallet))?.output).toEqual({ secret: 'SECRET-OUTPUT' });
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
