import { Pool, type PoolClient } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openTestDatabase, type TemporaryDatabase } from '../testing/index.js';
import { enqueueTask, freeAbandonedTasks, migrateJobs, startJobs } from './jobs.js';
import { createLogger } from '../platform/logger.js';

const TASK = 'test';

let database: TemporaryDatabase;
let unhandled: unknown[];
const note = (error: unknown) => unhandled.push(error);

beforeAll(async () => {
  database = await openTestDatabase();
  await migrateJobs(database.pool);
  process.on('unhandledRejection', note);
});
afterAll(async () => {
  process.off('unhandledRejection', note);
  await database.close();
});
beforeEach(() => {
  unhandled = [];
});

/** A pool of the worker's own. */
function open(max: number, timeoutMs = 10_000): Pool {
  const pool = new Pool({ connectionString: database.url, max, connectionTimeoutMillis: timeoutMs });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

async function queued(): Promise<number> {
  const { rows } = await database.pool.query<{ count: bigint }>('select count(*) from graphile_worker.jobs');
  return Number(rows[0]?.count);
}

/** Starts a worker with that task, and returns once the task runs and has called `ready`. */
async function run(pool: Pool, task: (ready: () => void) => Promise<void>) {
  let ready: () => void = () => undefined;
  const running = new Promise<void>((resolve) => (ready = resolve));
  const jobs = await startJobs(pool, { [TASK]: () => task(ready) }, createLogger('silent'), {
    concurrency: 1,
  });
  await enqueueTask(database.db, TASK, {});
  await running;
  return jobs;
}

it('a task that finishes after stop was called leaves the queue before stop returns', async () => {
  const pool = open(2);
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => (finish = resolve));
  const jobs = await run(pool, (ready) => {
    ready();
    return finished;
  });
  const stopped = jobs.stop().then(() => pool.end());
  const taken = [await pool.connect(), await pool.connect()];
  finish();
  await expect.poll(() => pool.waitingCount).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  for (const client of taken) client.release();
  await stopped;
  expect(await queued()).toBe(0);
  expect(unhandled).toEqual([]);
});

it('a task that throws is kept with its error, to be tried again, and ends no process', async () => {
  const pool = open(2);
  const jobs = await run(pool, async (ready) => {
    ready();
    throw new Error('It does not work now.');
  });
  const errorOf = async () =>
    (await database.pool.query<{ last_error: string | null }>('select last_error from graphile_worker.jobs'))
      .rows;
  await expect.poll(errorOf).toEqual([{ last_error: 'It does not work now.' }]);
  await jobs.stop();
  await pool.end();
  await database.pool.query('delete from graphile_worker._private_jobs');
  expect(unhandled).toEqual([]);
});

it('a task that finishes while no connection becomes free leaves the queue later, and ends no process', async () => {
  const pool = open(2, 200);
  let taken: PoolClient | undefined;
  const jobs = await run(pool, async (ready) => {
    // The other connection listens for new tasks.
    taken = await pool.connect();
    ready();
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(await queued()).toBe(1);
  taken?.release();
  await expect.poll(queued, { timeout: 10_000 }).toBe(0);
  expect(unhandled).toEqual([]);
  await jobs.stop();
  await pool.end();
});

it('a task whose connection breaks while it leaves the queue leaves it later, and ends no process', async () => {
  const pool = open(3);
  let broken = 0;
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...call: unknown[]) => Promise<unknown>;
    client.query = (async (...call: unknown[]) => {
      const { text } = call[0] as { text?: string };
      if (broken === 0 && text?.startsWith('delete from') === true) {
        broken += 1;
        const { processID: id } = client as unknown as { processID: number };
        await database.pool.query('select pg_terminate_backend($1)', [id]);
      }
      return query(...call);
    }) as typeof client.query;
  });
  const jobs = await run(pool, async (ready) => ready());
  await expect.poll(queued, { timeout: 10_000 }).toBe(0);
  expect(broken).toBe(1);
  expect(unhandled).toEqual([]);
  await jobs.stop();
  await pool.end();
});

it('a killed process’s task is worked on again, with the tasks that wait behind it, and no other [REG-22]', async () => {
  const { db, pool } = database;
  await pool.query('delete from graphile_worker._private_jobs');
  for (const part of ['killed', 'behind']) {
    await enqueueTask(db, TASK, { part }, { queue: 'of one creator' });
  }
  const lock = (age: string) =>
    pool.query(
      `with job as (
        update graphile_worker._private_jobs set locked_at = now() - $1::interval, locked_by = 'gone', attempts = 1
        where payload->>'part' = 'killed' returning job_queue_id
      ) update graphile_worker._private_job_queues as queue set locked_at = now(), locked_by = 'gone'
        from job where queue.id = job.job_queue_id`,
      [age],
    );
  const worked: string[] = [];
  let onBoth: () => void = () => undefined;
  const both = new Promise<void>((resolve) => (onBoth = resolve));
  const work = async (payload: unknown) => {
    worked.push((payload as { part: string }).part);
    if (worked.length === 2) onBoth();
  };
  await lock('5 minutes');
  await freeAbandonedTasks(db, [TASK], 600_000);
  await freeAbandonedTasks(db, ['another'], 0);
  const { rows } = await pool.query<{ locked: bigint }>(
    'select count(*) as locked from graphile_worker.jobs where locked_by is not null',
  );
  expect(Number(rows[0]?.locked)).toBe(1);
  await lock('11 minutes');
  await freeAbandonedTasks(db, [TASK], 600_000);
  const jobs = await startJobs(pool, { [TASK]: work }, createLogger('silent'), { concurrency: 2 });
  await both;
  await jobs.stop();
  expect(worked.toSorted()).toEqual(['behind', 'killed']);
});

it('tasks with a queue are not missed when several runners look for tasks at once', async () => {
  const pool = open(20);
  let done = 0;
  const tasks = { [TASK]: async () => void (done += 1) };
  // Without a poll a missed task would never begin.
  const options = { concurrency: 4, pollMs: 3_600_000 };
  // With several names, PostgreSQL looks at the queues before the names.
  const others = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`other ${count} ${at}`, async () => undefined]),
    );
  const names = [tasks, others(6), others(7)];
  const runners = await Promise.all(
    names.map((each) => startJobs(pool, each, createLogger('silent'), options)),
  );
  for (let task = 1; task <= 50; task += 1) {
    await enqueueTask(database.db, TASK, {}, { queue: `of wallet ${task}` });
    await expect.poll(() => done, { interval: 5 }).toBe(task);
  }
  // Of one queue: each begins after the one before it has ended.
  for (let task = 0; task < 20; task += 1) await enqueueTask(database.db, TASK, {}, { queue: 'one' });
  await expect.poll(() => done, { interval: 5 }).toBe(70);
  for (const runner of runners) await runner.stop();
  await pool.end();
  expect(unhandled).toEqual([]);
});
