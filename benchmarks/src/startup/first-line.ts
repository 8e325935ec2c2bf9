import { PROTOCOL_VERSION, type RunMessage } from '@agent-rental/agent-runner';
import { createWarmPool, type Sandbox, type SandboxDriver, type WarmPool } from '@agent-rental/sandbox';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_INTERVAL_MS = 5;
/** The time for the end of earlier work: old sandboxes end, and new ones finish their start. */
export const SETTLED_MS = 100;

/** A typical task: 4 KB of input, and no work before the model's first turn. */
const RUN: RunMessage = {
  type: 'run',
  protocol: PROTOCOL_VERSION,
  run: {
    runId: 'bench',
    task: 'Say what this is.',
    input: { text: 'x'.repeat(4_096) },
    tools: [],
    outputSchema: { type: 'string' },
    maxSteps: 4,
  },
};

/**
 * Measures the times from `take` to the first line of a run, in milliseconds. All sandboxes live until the last first line,
 * because a real run continues long after its first line.
 */
async function firstLines(concurrent: number, take: () => Promise<Sandbox>): Promise<number[]> {
  const taken: Sandbox[] = [];
  const times = Array.from({ length: concurrent }, async () => {
    const startedAt = performance.now();
    const sandbox = await take();
    taken.push(sandbox);
    sandbox.send(JSON.stringify(RUN));
    const { done } = await sandbox.lines[Symbol.asyncIterator]().next();
    if (done === true) throw new Error('A sandbox ended before its first line.');
    return performance.now() - startedAt;
  });
  try {
    return await Promise.all(times);
  } finally {
    await Promise.all(taken.map((sandbox) => sandbox.kill()));
  }
}

/** Measures a sandbox that starts for its run. */
export async function coldFirstLine(driver: SandboxDriver): Promise<number> {
  await delay(SETTLED_MS);
  const [ms = Number.NaN] = await firstLines(1, () => driver.start({ entry: 'runner' }));
  return ms;
}

/** Measures sandboxes of a full pool for concurrent runs. */
export async function warmFirstLines(pool: WarmPool, size: number, concurrent: number): Promise<number[]> {
  await untilSettled(pool, size);
  return firstLines(concurrent, () => pool.take());
}

/** Empties the pool at once. @returns the sandboxes per second of its refill. */
export async function refillPerSecond(pool: WarmPool, size: number): Promise<number> {
  await untilFull(pool, size);
  const taken = await Promise.all(Array.from({ length: size }, () => pool.take()));
  await Promise.all(taken.map((sandbox) => sandbox.kill()));
  const startedAt = performance.now();
  await untilFull(pool, size);
  return size / ((performance.now() - startedAt) / 1000);
}

/** A pool with the server's settings and `size` ready sandboxes. */
export function benchPool(driver: SandboxDriver, size: number): WarmPool {
  return createWarmPool({ driver, entry: 'runner', size, maxActive: size, maxWaitMs: 10_000 });
}

async function untilFull(pool: WarmPool, size: number): Promise<void> {
  while (pool.stats().idle < size || pool.stats().active > 0) await delay(POLL_INTERVAL_MS);
}

/** Waits for a full pool and the end of unmeasured work. */
async function untilSettled(pool: WarmPool, size: number): Promise<void> {
  await untilFull(pool, size);
  await delay(SETTLED_MS);
}
