import { describe, expect, test, vi } from 'vitest';
import type { Sandbox, SandboxCapacity, SandboxDriver } from '../sandbox.js';
import { FakeSandbox } from '../protocol/fake-sandbox.test-support.js';
import { createWarmPool } from './warm-pool.js';
import { SandboxUnavailableError, type WarmPool } from './sandbox-pool.js';

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

  probe(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function createPool(driver: SandboxDriver, options: object = {}): WarmPool {
  return createWarmPool({ driver, entry: 'runner', size: 2, maxActive: 3, maxWaitMs: 60_000, ...options });
}

async function untilIdle(pool: WarmPool, idle: number): Promise<void> {
  await vi.waitFor(
    () => {
      expect(pool.stats()).toMatchObject({ idle, starting: 0 });
    },
    { timeout: 15_000 },
  );
}

describe('createWarmPool', () => {
  test('fills itself, gives each sandbox to one caller, and refills', async () => {
    const driver = new FakeDriver();
    const pool = createPool(driver);
    await pool.ready();
    expect(pool.stats()).toMatchObject({ idle: 2, active: 0 });
    const taken = [await pool.take(), await pool.take(), await pool.take()];
    expect(new Set(taken).size).toBe(3);
    await untilIdle(pool, 2);
    expect(pool.stats()).toMatchObject({ active: 3, takenTotal: 3 });
    expect(driver.mostConcurrentStarts).toBeLessThanOrEqual(2);
    await pool.close();
  });

  test('delays its refill for a bounded time while the machine is busy, and never while a call waits', async () => {
    vi.useFakeTimers();
    try {
      const driver = new FakeDriver();
      let isBusy = true;
      const pool = createPool(driver, { size: 2, isBusy: () => isBusy });
      await pool.ready();
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
      const emptied = createPool(driver, { size: 1, isBusy: () => isBusy });
      await emptied.ready();
      await emptied.take();
      await expect(emptied.take()).resolves.toBeInstanceOf(FakeSandbox);
      await Promise.all([pool.close(), emptied.close()]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('waits in order while the most allowed sandboxes are in use', async () => {
    const driver = new FakeDriver();
    const pool = createPool(driver, { maxActive: 1 });
    const first = await pool.take();
    const order: string[] = [];
    const second = pool.take().then((sandbox) => {
      order.push('second');
      return sandbox;
    });
    const third = pool.take().then((sandbox) => {
      order.push('third');
      return sandbox;
    });
    expect(pool.stats()).toMatchObject({ active: 1, waiting: 2 });
    await first.kill();
    await (await second).kill();
    await third;
    expect(order).toEqual(['second', 'third']);
    await pool.close();
  });

  test('starts a sandbox for a waiting call even with no reserve', async () => {
    const pool = createPool(new FakeDriver(), { size: 0 });
    await pool.ready();
    await expect(pool.take()).resolves.toBeInstanceOf(FakeSandbox);
    await pool.close();
  });

  test('replaces a sandbox that dies before its use', async () => {
    const driver = new FakeDriver();
    const pool = createPool(driver);
    await pool.ready();
    driver.started[0]?.end('crashed');
    await vi.waitFor(
      () => {
        expect(pool.stats()).toMatchObject({ idle: 2, diedIdleTotal: 1 });
      },
      { timeout: 15_000 },
    );
    const taken = [await pool.take(), await pool.take()];
    expect(taken).not.toContain(driver.started[0]);
    await pool.close();
  });

  test('never exceeds its limit of sandboxes in any state, also with its reserve', async () => {
    const driver = new FakeDriver();
    const pool = createPool(driver, { size: 5, maxSandboxes: 3, maxActive: 10 });
    await pool.ready();
    expect(pool.stats()).toMatchObject({ idle: 3 });
    const taken = [await pool.take(), await pool.take(), await pool.take()];
    const fourth = pool.take();
    expect(pool.stats()).toMatchObject({ idle: 0, active: 3, starting: 0, waiting: 1 });
    expect(driver.started).toHaveLength(3);
    await taken[0]?.kill();
    await fourth;
    expect(pool.stats()).toMatchObject({ active: 3, waiting: 0 });
    expect(driver.started).toHaveLength(4);
    await pool.close();
  });

  test('replaces a sandbox after the longest wait that the driver allows', async () => {
    vi.useFakeTimers();
    try {
      const driver = new FakeDriver({ maxSandboxes: 10, maxIdleMs: 600_000 });
      const pool = createPool(driver, { size: 1 });
      await pool.ready();
      await vi.advanceTimersByTimeAsync(400_000);
      await (await pool.take()).kill();
      await vi.advanceTimersByTimeAsync(400_000);
      const second = driver.started[1];
      expect(pool.stats()).toMatchObject({ idle: 1, recycledTotal: 0 });
      await vi.advanceTimersByTimeAsync(250_000);
      expect(pool.stats()).toMatchObject({ idle: 1, recycledTotal: 1, diedIdleTotal: 0, ending: 0 });
      expect(await second?.exited).toMatchObject({ reason: 'killed' });
      await expect(pool.take()).resolves.toBe(driver.started[2]);
      await pool.close();
    } finally {
      vi.useRealTimers();
    }
  });

  test('counts a sandbox that it gives up until it is gone', async () => {
    const driver = new FakeDriver({ maxSandboxes: 1, maxIdleMs: 20 });
    const pool = createPool(driver, { size: 1, maxSandboxes: 1 });
    await pool.ready();
    let gone = (): void => {};
    const [first] = driver.started;
    if (first === undefined) throw new Error('none was started');
    first.beforeGone = new Promise((resolve) => (gone = resolve));
    await vi.waitFor(
      () => {
        expect(pool.stats()).toMatchObject({ idle: 0, ending: 1, starting: 0 });
      },
      { timeout: 15_000 },
    );
    gone();
    await vi.waitFor(
      () => {
        expect(driver.started.length).toBeGreaterThan(1);
      },
      { timeout: 15_000 },
    );
    await pool.close();
  });

  test('reports the time of a shortage of its reserve', async () => {
    const driver = new FakeDriver();
    const pool = createPool(driver, { size: 1 });
    await pool.ready();
    const first = pool.stats().refillMs;
    await (await pool.take()).kill();
    expect(pool.stats().idle).toBe(0);
    await untilIdle(pool, 1);
    const { refillMs, startsTotal } = pool.stats();
    expect(startsTotal).toBe(2);
    expect(refillMs).not.toBe(first);
    expect(pool.stats().refillMs, 'it is full and does not grow').toBe(refillMs);
    await pool.close();
  });

  test('refuses with the time to wait when none is free in time', async () => {
    const pool = createPool(new FakeDriver(), { maxActive: 1, maxWaitMs: 10 });
    await pool.take();
    const error: unknown = await pool.take().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SandboxUnavailableError);
    expect(error).toMatchObject({ code: 'sandbox_unavailable', retryAfterSeconds: 1 });
    expect(pool.stats()).toMatchObject({ waiting: 0, refusedTotal: 1 });
    await pool.close();
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
    await pool.close();
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
    await untilIdle(pool, 2);
    await expect(pool.take()).resolves.toBeInstanceOf(FakeSandbox);
    await pool.close();
  });

  test('closing kills all: waiting to be used, in use, and still starting', async () => {
    const driver = new FakeDriver();
    const pool = createPool(driver);
    await pool.ready();
    const used = await pool.take();
    const late = new FakeSandbox();
    let finishStart = (): void => {};
    driver.startSandbox = () =>
      new Promise((resolve) => {
        finishStart = () => {
          resolve(late);
        };
      });
    await vi.waitFor(
      () => {
        expect(pool.stats().starting).toBe(1);
      },
      { timeout: 15_000 },
    );
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
    /** Waiting takes, and the order in which they get a sandbox. */
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
      await pool.close();
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
      await pool.close();
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
      await pool.close();
    });
  });
});
