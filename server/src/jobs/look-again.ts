import { EventEmitter } from 'node:events';
import type { WorkerEvents, WorkerPool } from 'graphile-worker';

/** Longest time until a free worker looks for tasks again, in milliseconds. The times are random: two looks miss each other. */
const LOOKS_WITHIN_MS = [40, 200];

/**
 * Events of one runner of graphile-worker that have a free worker look again after each new and each ended task.
 *
 * While graphile-worker (0.17.3) looks for a task, it locks all free queues, and others look past locked ones. So of two
 * looks at once, one finds no task that has a queue. That task would wait for the next poll: up to 2 s.
 */
export function lookingAgain(): WorkerEvents {
  const events: WorkerEvents = new EventEmitter();
  const timers = new Set<NodeJS.Timeout>();
  let isEnding = false;
  const lookAgain = (pool: Pick<WorkerPool, 'nudge'>) => {
    if (isEnding) return;
    for (const withinMs of LOOKS_WITHIN_MS) {
      const timer = setTimeout(() => {
        timers.delete(timer);
        pool.nudge(1);
      }, Math.random() * withinMs);
      timers.add(timer);
    }
  };
  events.on('pool:listen:notification', ({ workerPool }) => lookAgain(workerPool));
  events.on('job:complete', ({ worker }) => lookAgain(worker.workerPool));
  events.on('pool:gracefulShutdown', () => {
    isEnding = true;
    for (const timer of timers) clearTimeout(timer);
  });
  return events;
}
