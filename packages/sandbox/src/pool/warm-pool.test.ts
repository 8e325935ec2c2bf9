import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Sandbox, SandboxCapacity, SandboxDriver } from '../sandbox.js';
import { FakeSandbox } from '../protocol/fake-sandbox.test-support.js';
import { createWarmPool } from './warm-pool.js';
import { SandboxUnavailableError, type WarmPool, type WarmPoolStats } from './sandbox-pool.js';

/** A driver whose starts succeed or fail as told. */
class FakeDriver implements SandboxDriver {
  readonly name = 'test';
  readonly isolation = 'runtime';
  readonly guarantees = { memoryBounded: false, endsWithHost: false };
  readonly capacity?: SandboxCapacity;
  readonly started: FakeSandbox[] = [];
  concurrentStarts = 0;
  mostConcurrentStarts = 0;

  constructor(capacity?: SandboxCapacity) {
    if (capacity !== undefined) this.capacity = capacity;
  }

  startSandbox = (): Promise<FakeSandbox> => Promise.resolve(new FakeSandbox());

  async start(): Promise<Sandbox> {
    this.concurrentStarts += 1;
    this.mostConcurrentStarts = Math.max(this.mostConcurrentStarts, this.concurrentStarts);
    try {
      const sandbox = await this.startSandbox();
      this.started.push(sandbox);
      return sandbox;
    } finally {
      this.concurrentStarts -= 1;
    }
  }

  probe = (): Promise<void> => Promise.resolve();
  close = (): Promise<void> => Promise.resolve();
}

/** A pool that the end of the test closes. */
function createPool(driver: SandboxDriver, options: object = {}): WarmPool {
  const defaults = { driver, entry: 'runner' as const, size: 2, maxActive: 3, maxWaitMs: 60_000 };
  const pool = createWarmPool({ ...defaults, ...options });
  onTestFinished(() => pool.close());
  return pool;
}

async function readyPool(driver: SandboxDriver, options: object = {}): Promise<WarmPool> {
  const pool = createPool(driver, options);
  await pool.ready();
  return pool;
}

async function untilStats(pool: WarmPool, stats: Partial<WarmPoolStats>): Promise<void> {
  await vi.waitFor(() => expect(pool.stats()).toMatchObject(stats), { timeout: 15_000 });
}

function useFakeTimers(): void {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
}

describe('createWarmPool', () => {
  test('fills itself, gives each sandbox to one caller, and refills', async () => {
    const driver = new FakeDriver();
    const pool = await readyPool(driver);
    expect(pool.stats()).toMatchObject({ idle: 2, active: 0 });
    const taken = [await pool.take(), await pool.take(), await pool.take()];
    expect(new Set(taken).size).toBe(3);
    await untilStats(pool, { idle: 2, starting: 0 });
    expect(pool.stats()).toMatchObject({ active: 3, takenTotal: 3 });
    expect(driver.mostConcurrentStarts).toBeLessThanOrEqual(2);
  });

  test('delays its refill for a bounded time while the machine is busy, and never while a call waits', async () => {
    useFakeTimers();
    const driver = new FakeDriver();
    let isBusy = true;
    const pool = await readyPool(driver, { size: 2, isBusy: () => isBusy });
    await pool.take();
    await vi.advanceTimersByTimeAsync(900);
    expect(driver.started).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(200);
    expect(driver.started).toHaveLength(3);
    // Not busy any more: soon.
    await pool.take();
    await vi.advanceTimersByTimeAsync(200);
    expect(driver.started).toHaveLength(3);
    isBusy = false;
    await vi.advanceTimersByTimeAsync(60);
    expect(driver.started).toHaveLength(4);
    isBusy = true;
    const emptied = await readyPool(driver, { size: 1, isBusy: () => isBusy });
    await emptied.take();
    await expect(emptied.take()).resolves.toBeInstanceOf(FakeSandbox);
  });

  test('waits in order while the most allowed sandboxes are in use', async () => {
    const driver = new FakeDriver();
    const pool = createPool(driver, { maxActive: 1 });
    const first = await pool.take();
    const order: string[] = [];
    const [second, third] = ['second', 'third'].map(async (call) => {
      const sandbox = await pool.take();
      order.push(call);
      return sandbox;
    });
    expect(pool.stats()).toMatchObject({ active: 1, waiting: 2 });
    await first.kill();
    await (await second)?.kill();
    await third;
    expect(order).toEqual(['second', 'third']);
  });

  test('starts a sandbox for a waiting call even with no reserve', async () => {
    const pool = await readyPool(new FakeDriver(), { size: 0 });
    await expect(pool.take()).resolves.toBeInstanceOf(FakeSandbox);
  });

  test('replaces a sandbox that dies before its use', async () => {
    const driver = new FakeDriver();
    const pool = await readyPool(driver);
    driver.started[0]?.end('crashed');
    await untilStats(pool, { idle: 2, diedIdleTotal: 1 });
    const taken = [await pool.take(), await pool.take()];
    expect(taken).not.toContain(driver.started[0]);
  });

  test('never exceeds its limit of sandboxes in any state, also with its reserve', async () => {
    const driver = new FakeDriver();
    const pool = await readyPool(driver, { size: 5, maxSandboxes: 3, maxActive: 10 });
    expect(pool.stats()).toMatchObject({ idle: 3 });
    const taken = [await pool.take(), await pool.take(), await pool.take()];
    const fourth = pool.take();
    expect(pool.stats()).toMatchObject({ idle: 0, active: 3, starting: 0, waiting: 1 });
    expect(driver.started).toHaveLength(3);
    await taken[0]?.kill();
    await fourth;
    expect(pool.stats()).toMatchObject({ active: 3, waiting: 0 });
    expect(driver.started).toHaveLength(4);
  });

  test('replaces a sandbox after the longest wait that the driver allows', async () => {
    useFakeTimers();
    const driver = new FakeDriver({ maxSandboxes: 10, maxIdleMs: 600_000 });
    const pool = await readyPool(driver, { size: 1 });
    await vi.advanceTimersByTimeAsync(400_000);
    await (await pool.take()).kill();
    await vi.advanceTimersByTimeAsync(400_000);
    const second = driver.started[1];
    expect(pool.stats()).toMatchObject({ idle: 1, recycledTotal: 0 });
    await vi.advanceTimersByTimeAsync(250_000);
    expect(pool.stats()).toMatchObject({ idle: 1, recycledTotal: 1, diedIdleTotal: 0, ending: 0 });
    expect(await second?.exited).toMatchObject({ reason: 'killed' });
    await expect(pool.take()).resolves.toBe(driver.started[2]);
  });

  test('counts a sandbox that it gives up until it is gone', async () => {
    const driver = new FakeDriver({ maxSandboxes: 1, maxIdleMs: 20 });
    const pool = await readyPool(driver, { size: 1, maxSandboxes: 1 });
    let gone = (): void => {};
    const [first] = driver.started;
    if (first === undefined) throw new Error('none was started');
    first.beforeGone = new Promise((resolve) => (gone = resolve));
    await untilStats(pool, { idle: 0, ending: 1, starting: 0 });
    gone();
    await vi.waitFor(() => expect(driver.started.length).toBeGreaterThan(1), { timeout: 15_000 });
  });

  test('reports the time of a shortage of its reserve', async () => {
    const driver = new FakeDriver();
    const pool = await readyPool(driver, { size: 1 });
    const first = pool.stats().refillMs;
    await (await pool.take()).kill();
    expect(pool.stats().idle).toBe(0);
    await untilStats(pool, { idle: 1, starting: 0 });
    const { refillMs, startsTotal } = pool.stats();
    expect(startsTotal).toBe(2);
    expect(refillMs).not.toBe(first);
    expect(pool.stats().refillMs, 'it is full and does not grow').toBe(refillMs);
  });

  test('refuses with the time to wait when none is free in time', async () => {
    const pool = createPool(new FakeDriver(), { maxActive: 1, maxWaitMs: 10 });
    await pool.take();
    await expect(pool.take()).rejects.toMatchObject({
      name: 'SandboxUnavailableError',
      code: 'sandbox_unavailable',
      retryAfterSeconds: 1,
    });
    expect(pool.stats()).toMatchObject({ waiting: 0, refusedTotal: 1 });
  });

  test('bounds the waiting calls', async () => {
    const pool = createPool(new FakeDriver(), { maxActive: 0, maxWaiting: 1 });
    const waiting = pool.take();
    await expect(pool.take()).rejects.toThrow('too many are waiting');
    await pool.close();
    await expect(waiting).rejects.toThrow('closed');
  });

  test('an aborted wait ends at once and leaves its slot', async () => {
    const pool = createPool(new FakeDriver(), { maxActive: 0 });
    const controller = new AbortController();
    const waiting = pool.take({ signal: controller.signal });
    controller.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await expect(pool.take({ signal: controller.signal })).rejects.toThrow('gone');
    expect(pool.stats().waiting).toBe(0);
  });

  test('a failed start is reported, tried again, and the cause of a waiting call’s error', async () => {
    const driver = new FakeDriver();
    const broken = new Error('no binary');
    driver.startSandbox = () => Promise.reject(broken);
    const onStartFailure = vi.fn();
    const pool = createPool(driver, { maxWaitMs: 20, onStartFailure });
    await expect(pool.ready()).rejects.toBe(broken);
    expect(onStartFailure).toHaveBeenCalledWith(broken);
    await expect(pool.take()).rejects.toMatchObject({ code: 'sandbox_unavailable', cause: broken });
    driver.startSandbox = () => Promise.resolve(new FakeSandbox());
    await untilStats(pool, { idle: 2, starting: 0 });
    await expect(pool.take()).resolves.toBeInstanceOf(FakeSandbox);
  });

  test('closing kills all: waiting to be used, in use, and still starting', async () => {
    const driver = new FakeDriver();
    const pool = await readyPool(driver);
    const used = await pool.take();
    const late = new FakeSandbox();
    let finishStart = (): void => {};
    driver.startSandbox = () => new Promise((resolve) => (finishStart = () => resolve(late)));
    await untilStats(pool, { starting: 1 });
    const closing = pool.close();
    finishStart();
    await closing;
    for (const sandbox of [used, late, ...driver.started]) {
      expect(await sandbox.exited).toMatchObject({ reason: 'killed' });
    }
    await expect(pool.take()).rejects.toBeInstanceOf(SandboxUnavailableError);
    expect(pool.stats()).toMatchObject({ idle: 0, active: 0, starting: 0 });
  });

  describe('between owners', () => {
    function takes(pool: WarmPool): {
      given: { owner: string; sandbox: Sandbox }[];
      take(owner: string): Promise<void>;
    } {
      const given: { owner: string; sandbox: Sandbox }[] = [];
      return {
        given,
        take: async (owner) => {
          given.push({ owner, sandbox: await pool.take({ owner }) });
        },
      };
    }
    const ownersOf = (given: { owner: string }[]): string[] => given.map(({ owner }) => owner);

    test('two busy ones leave a slot for a third [EXE-62]', async () => {
      const pool = createPool(new FakeDriver(), { maxActive: 8, size: 4 });
      const { given, take } = takes(pool);
      const busy = ['a', 'b'].flatMap((owner) => Array.from({ length: 10 }, () => take(owner)));
      await vi.waitFor(() => expect(given).toHaveLength(6));
      // None of their sandboxes ends, and the third one is served.
      await take('c');
      expect(ownersOf(given).filter((owner) => owner === 'a')).toHaveLength(3);
      const closing = pool.close();
      await Promise.allSettled(busy);
      await closing;
    });

    test('calls without an owner take all slots, in their order', async () => {
      const pool = createPool(new FakeDriver(), { maxActive: 4, size: 4 });
      const taken = await Promise.all([1, 2, 3, 4].map(() => pool.take()));
      const given: number[] = [];
      const waiting = [1, 2].map(async (call) => {
        await pool.take();
        given.push(call);
      });
      await Promise.all(taken.slice(0, 2).map((sandbox) => sandbox.kill()));
      await Promise.all(waiting);
      expect(given).toEqual([1, 2]);
    });

    test('the owner with the fewest in use comes next, for any number of other waiting calls [EXE-62]', async () => {
      const pool = createPool(new FakeDriver(), { maxActive: 3, size: 3 });
      const { given, take } = takes(pool);
      await Promise.all([take('a'), take('a'), take('a')]);
      const waiting = [take('a'), take('a'), take('b'), take('b'), take('c')];
      for (let ended = 0; ended < 5; ended += 1) {
        await given[ended]?.sandbox.kill();
        await vi.waitFor(() => expect(given).toHaveLength(4 + ended));
      }
      await Promise.all(waiting);
      expect(ownersOf(given).slice(3)).toEqual(['b', 'c', 'a', 'b', 'a']);
    });

    test('a slot is free when no part of its sandbox is left', async () => {
      const pool = createPool(new FakeDriver(), { maxActive: 1, size: 1 });
      const first = (await pool.take()) as FakeSandbox;
      let release = (): void => {};
      first.beforeGone = new Promise((resolve) => (release = resolve));
      await first.kill();
      expect(pool.stats()).toMatchObject({ active: 1 });
      const second = pool.take();
      release();
      await expect(second).resolves.toBeDefined();
    });
  });
});
