import { Logger as WorkerLogger, run, runMigrations, type TaskList } from 'graphile-worker';
import { sql } from 'kysely';
import type pg from 'pg';
import type { Db } from '../database/connection.js';
import { createJobsPool } from './jobs-pool.js';
import { lookingAgain } from './look-again.js';
import type { Logger } from '../platform/logger.js';

/** How a task is worked on. */
export interface TaskOptions {
  /** Tasks of one queue run one after another, across replicas: the slow ones leave the others their places. */
  queue?: string;
  /** How often it is tried. Default: 25 times, over about three days. */
  maxAttempts?: number;
  /** A task with this key that waits already is not put in a second time. */
  key?: string;
  /** It is not worked on before. Default: at once. */
  runAt?: Date;
  /** Of tasks that are due, the one with the lowest number runs first. Default 0. */
  priority?: number;
}

/** Puts a task into the queue, inside the transaction of the row that it serves. */
export async function enqueueTask(
  tx: Db,
  task: string,
  payload: Record<string, string>,
  { queue, maxAttempts, priority, key, runAt }: TaskOptions = {},
): Promise<void> {
  await sql`select graphile_worker.add_job(
    ${task}, ${JSON.stringify(payload)}::json,
    queue_name := ${queue ?? null}::text, max_attempts := ${maxAttempts ?? null}::integer,
    priority := ${priority ?? null}::integer, job_key := ${key ?? null}::text,
    run_at := ${runAt ?? null}::timestamptz
  )`.execute(tx);
}

/**
 * Gives tasks back to the queue that a process left which was killed: they are locked for four hours otherwise, and their queues with
 * them.
 *
 * @param names of tasks that end within `abandonedAfterMs`, and that may run twice at once
 */
export async function freeAbandonedTasks(
  db: Db,
  names: readonly string[],
  abandonedAfterMs: number,
): Promise<void> {
  await sql`select graphile_worker.force_unlock_workers(workers) from (
    select array_agg(distinct locked_by) as workers from graphile_worker.jobs
    where task_identifier = any (${names}) and locked_by is not null
      and locked_at <= now() - make_interval(secs => ${abandonedAfterMs / 1000})
  ) as abandoned where workers is not null`.execute(db);
}

/** Makes the queue's own tables; safe with several replicas at once. */
export async function migrateJobs(pool: pg.Pool): Promise<void> {
  await runMigrations({ pgPool: pool });
}

/** How tasks are worked on in this process. */
interface JobsOptions {
  /** Times of tasks that come again. Default: none. */
  crontab?: string;
  /** The most tasks at once. Default 4. */
  concurrency?: number;
  /** How often a free worker looks for tasks that no notice told of, such as those for later. Default 2 s. */
  pollMs?: number;
  /** Whether some tasks have a queue, so that a worker may miss them. Default true. */
  hasQueues?: boolean;
}

/**
 * Starts to work on queued tasks, and on due tasks of `crontab` (once for all replicas). At most `concurrency` run at
 * once. Tasks that are not in the list are left to others. Stop lets running tasks finish.
 */
export async function startJobs(
  pool: pg.Pool,
  tasks: TaskList,
  logger: Logger,
  { crontab = '', concurrency = 4, pollMs = 2_000, hasQueues = true }: JobsOptions = {},
): Promise<{ stop(): Promise<void> }> {
  const connections = createJobsPool(pool);
  const runner = await run({
    pgPool: connections.pool,
    taskList: tasks,
    crontab,
    concurrency,
    pollInterval: pollMs,
    ...(hasQueues ? { events: lookingAgain() } : {}),
    noHandleSignals: true,
    logger: new WorkerLogger(() => (level, message) => {
      const name: string = level;
      if (name === 'error') logger.error({ worker: true }, message);
      else if (name === 'warning') logger.warn({ worker: true }, message);
      else logger.debug({ worker: true }, message);
    }),
  });
  return {
    async stop() {
      await runner.stop();
      await connections.close();
    },
  };
}
