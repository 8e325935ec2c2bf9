import { PROTOCOL_VERSION, type RunMessage } from '@agent-rental/agent-runner';
import { createWarmPool, type Sandbox, type SandboxDriver, type WarmPool } from '@agent-rental/sandbox';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_INTERVAL_MS = 5;
/** By then what came before has settled: its sandboxes are gone, and those in their place have nothing left to do. */
export const SETTLED_MS = 100;

/** A task as it comes: 4 KB of input, and nothing to do before the model is asked. */
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
 * Times until sandboxes that `take` gives have said their first line of a run, in milliseconds. All of them live until
 * the last one has: a run goes on for long after its first line.
 */
async function firstLines(concurrent: number, take: () => Promise<Sandbox>): Promise<number[]> {
  const taken: Sandbox[] = [];
  const times = Array.from({ length: concurrent }, async () => {
    const startedAt = performance.now();
    const sandbox = await take();
    taken.push(sandbox);
    sandbox.send(JSON.stringify(RUN));
    const { done } = await sandbox.lines[Symbol.asyncIterator]().next();
    if (done === true) throw new Error('A sandbox ended before it said anything.');
    return performance.now() - startedAt;
  });
  try {
    return await Promise.all(times);
  } finally {
    await Promise.all(taken.map((sandbox) => sandbox.kill()));
  }
}

/** A sandbox that is started for its run. */
export async function coldFirstLine(driver: SandboxDriver): Promise<number> {
  await delay(SETTLED_MS);
  const [ms = Number.NaN] = await firstLines(1, () => driver.start({ entry: 'runner' }));
  return ms;
}

/** Sandboxes for as many runs at once, from a pool that is full. */
export async function warmFirstLines(pool: WarmPool, size: number, concurrent: number): Promise<number[]> {
  await untilSettled(pool, size);
  return firstLines(concurrent, () => pool.take());
}

/** Empties the pool at once; gives how many sandboxes a second it was filled with. */
export async function refillPerSecond(pool: WarmPool, size: number): Promise<number> {
  await untilFull(pool, size);
  const taken = await Promise.all(Array.from({ length: size }, () => pool.take()));
  await Promise.all(taken.map((sandbox) => sandbox.kill()));
  const startedAt = performance.now();
  await untilFull(pool, size);
  return size / ((performance.now() - startedAt) / 1000);
}

/** A pool as the server has it, with that many ready. */
export function benchPool(driver: SandboxDriver, size: number): WarmPool {
  return createWarmPool({ driver, entry: 'runner', size, maxActive: size, maxWaitMs: 10_000 });
}

async function untilFull(pool: WarmPool, size: number): Promise<void> {
  while (pool.stats().idle < size || pool.stats().active > 0) await delay(POLL_INTERVAL_MS);
}

/** The same, with nothing left to do that is not measured. */
async function untilSettled(pool: WarmPool, size: number): Promise<void> {
  await untilFull(pool, size);
  await delay(SETTLED_MS);
}
