import { performance } from 'node:perf_hooks';

/** Time budget of one iteration of the event loop for the output of all sandboxes together, in milliseconds. */
const BUDGET_MS = 2;

/** When the current iteration began to use its budget, in milliseconds of `performance.now`; undefined: not yet. */
let begunAt: number | undefined;
/** Callers of `nextTurn`, first in, first out. */
const waiting: (() => void)[] = [];
let isScheduled = false;

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    begunAt = undefined;
    const next = waiting.shift();
    if (next === undefined) return;
    // The caller continues in the microtasks after this callback, in the same iteration.
    begunAt = performance.now();
    next();
    schedule();
  });
}

/**
 * True while this iteration of the event loop has budget left for the output of sandboxes. False: continue after
 * `nextTurn`, so that timers, requests and other sandboxes run in between.
 */
export function hasTurnTime(): boolean {
  const now = performance.now();
  if (begunAt === undefined) {
    begunAt = now;
    schedule();
    return true;
  }
  return now - begunAt < BUDGET_MS;
}

/** Resolves in a later iteration of the event loop with its whole budget. One caller per iteration, in order. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    schedule();
  });
}
