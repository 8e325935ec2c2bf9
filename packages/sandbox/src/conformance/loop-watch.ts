import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, readSync } from 'node:fs';

/** First number: nanoseconds of processor time of the main thread. */
const SCHEDULER_STATISTICS = '/proc/self/schedstat';

/** Longest time that the event loop may be blocked, in milliseconds. */
const MAX_BLOCKED_MS = 10;
const ATTEMPTS = 8;

/**
 * Reads the processor time of the main thread in milliseconds, which Linux updates every 4 ms or so. On other systems it reads
 * the time of the process.
 */
function openProcessorClock(): { read(): number; close(): void } {
  if (!existsSync(SCHEDULER_STATISTICS)) {
    const read = (): number => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    };
    return { read, close: () => {} };
  }
  const file = openSync(SCHEDULER_STATISTICS, 'r');
  const text = Buffer.alloc(64);
  return {
    read() {
      const bytes = readSync(file, text, 0, text.length, 0);
      return Number(text.toString('latin1', 0, bytes).split(' ')[0]) / 1e6;
    },
    close: () => closeSync(file),
  };
}

/**
 * Measures how long the event loop is blocked while `action` runs, in milliseconds. Only processor time of the main thread counts in each gap
 * between two ticks: on a shared machine, other processes delay ticks too.
 */
async function longestBlockOf(action: () => Promise<unknown>): Promise<number> {
  const clock = openProcessorClock();
  let longestBlockMs = 0;
  let lastAt = performance.now();
  let lastUsed = clock.read();
  const tick = (): void => {
    const now = performance.now();
    const used = clock.read();
    longestBlockMs = Math.max(longestBlockMs, Math.min(now - lastAt, used - lastUsed));
    lastAt = now;
    lastUsed = used;
  };
  const timer = setInterval(tick, 1);
  try {
    await action();
    tick();
    return longestBlockMs;
  } finally {
    clearInterval(timer);
    clock.close();
  }
}

/**
 * Rejects when every attempt blocks the loop. Garbage collection or the first execution of code may block it once; work
 * that the flood causes blocks it in every attempt.
 */
export async function assertLoopStaysFree(flood: () => Promise<unknown>): Promise<void> {
  const blocks: number[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const longestBlockMs = await longestBlockOf(flood);
    if (longestBlockMs < MAX_BLOCKED_MS) return;
    blocks.push(Math.round(longestBlockMs));
  }
  assert.fail(`the event loop was blocked for ${blocks.join(', ')} ms`);
}
