import type { SandboxEntry } from '@agent-rental/agent-runner';
import type { Sandbox, SandboxDriver, SandboxLimits } from './sandbox.js';

/** No sandbox could be had in time. The request should be answered with 503 and `Retry-After`. */
export class SandboxUnavailableError extends Error {
  override readonly name = 'SandboxUnavailableError';
  /** Tells this error across packages, where `instanceof` may not. */
  readonly code = 'sandbox_unavailable';
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number, options?: ErrorOptions) {
    super(message, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface WarmPoolOptions {
  driver: SandboxDriver;
  entry: SandboxEntry;
  limits?: Partial<SandboxLimits>;
  /** How many to keep ready. */
  size: number;
  /** How many may be in use at once. */
  maxActive: number;
  /** How long `take` waits, in milliseconds. */
  maxWaitMs: number;
  /** How many may wait at once; more are refused without waiting. Default 256. */
  maxWaiting?: number;
  /** How many to start at the same time; more only slow each other down. Default 2. */
  maxConcurrentStarts?: number;
  /** Told of every start that failed, for the log. */
  onStartFailure?: (error: unknown) => void;
}

export interface WarmPoolStats {
  idle: number;
  starting: number;
  active: number;
  waiting: number;
  /** Counts since the pool was made. */
  takenTotal: number;
  startFailuresTotal: number;
  /** Sandboxes that ended while they waited to be used. */
  diedIdleTotal: number;
  /** Calls of `take` that got none. */
  refusedTotal: number;
}

/** Keeps sandboxes ready. Each is handed out once; whoever takes it has to kill it. */
export interface WarmPool {
  /** @throws SandboxUnavailableError; the signal's reason when it aborts. */
  take(options?: { signal?: AbortSignal }): Promise<Sandbox>;
  /**
   * Resolves when `size` are ready for the first time.
   * @throws what the first failed start threw: at boot that is a reason not to go on.
   */
  ready(): Promise<void>;
  stats(): WarmPoolStats;
  /** Kills every sandbox it ever handed out or holds. */
  close(): Promise<void>;
}

interface Waiter {
  give(sandbox: Sandbox): void;
  refuse(error: unknown): void;
}

/**
 * Starting a process costs the host milliseconds of its own time. What was taken is replaced a moment later, when the
 * run it was taken for is under way.
 */
const REFILL_DELAY_MS = 30;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

/** Makes a pool and begins to fill it. */
export function createWarmPool(options: WarmPoolOptions): WarmPool {
  const { driver, entry, limits, size, maxActive, maxWaitMs, onStartFailure } = options;
  const { maxWaiting = 256, maxConcurrentStarts = 2 } = options;
  const retryAfterSeconds = Math.max(1, Math.ceil(maxWaitMs / 1000));
  const idle: Sandbox[] = [];
  const active = new Set<Sandbox>();
  const starting = new Set<Promise<void>>();
  const waiters = new Set<Waiter>();
  let firstFillDone = (): void => {};
  let firstFillFailed = (_error: unknown): void => {};
  const firstFill = new Promise<void>((resolve, reject) => {
    firstFillDone = resolve;
    firstFillFailed = reject;
  });
  // Nobody has to call ready().
  firstFill.catch(() => {});
  let failuresInRow = 0;
  let lastFailure: unknown;
  let retryTimer: NodeJS.Timeout | undefined;
  let refillTimer: NodeJS.Timeout | undefined;
  let closed = false;
  let takenTotal = 0;
  let startFailuresTotal = 0;
  let diedIdleTotal = 0;
  let refusedTotal = 0;

  function unavailable(message: string): SandboxUnavailableError {
    refusedTotal += 1;
    return new SandboxUnavailableError(
      message,
      retryAfterSeconds,
      lastFailure === undefined ? {} : { cause: lastFailure },
    );
  }

  /** Starts what is missing: the reserve, and one for each who waits and may have one. */
  function fill(): void {
    if (closed || retryTimer !== undefined) return;
    const owed = Math.min(waiters.size, maxActive - active.size);
    let missing = size + owed - idle.length - starting.size;
    while (missing > 0 && starting.size < maxConcurrentStarts) {
      missing -= 1;
      const start: Promise<void> = startOne().finally(() => {
        starting.delete(start);
        settle();
      });
      starting.add(start);
    }
  }

  /** Fills the reserve soon; at once when somebody waits. */
  function refill(): void {
    if (waiters.size > 0) fill();
    if (closed || refillTimer !== undefined) return;
    refillTimer = setTimeout(() => {
      refillTimer = undefined;
      fill();
    }, REFILL_DELAY_MS);
    refillTimer.unref();
  }

  async function startOne(): Promise<void> {
    let sandbox: Sandbox;
    try {
      sandbox = await driver.start(limits === undefined ? { entry } : { entry, limits });
    } catch (error) {
      startFailed(error);
      return;
    }
    failuresInRow = 0;
    lastFailure = undefined;
    if (closed) {
      await sandbox.kill();
      return;
    }
    idle.push(sandbox);
    void replaceWhenDead(sandbox);
  }

  function startFailed(error: unknown): void {
    startFailuresTotal += 1;
    lastFailure = error;
    if (closed) return;
    firstFillFailed(error);
    onStartFailure?.(error);
    if (retryTimer !== undefined) return;
    const waitMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** failuresInRow);
    failuresInRow += 1;
    retryTimer = setTimeout(() => {
      retryTimer = undefined;
      fill();
    }, waitMs);
    retryTimer.unref();
  }

  async function replaceWhenDead(sandbox: Sandbox): Promise<void> {
    await sandbox.exited;
    const at = idle.indexOf(sandbox);
    if (at < 0) return;
    idle.splice(at, 1);
    diedIdleTotal += 1;
    await sandbox.kill();
    fill();
  }

  function handOut(sandbox: Sandbox): Sandbox {
    takenTotal += 1;
    active.add(sandbox);
    void releaseWhenEnded(sandbox);
    return sandbox;
  }

  async function releaseWhenEnded(sandbox: Sandbox): Promise<void> {
    await sandbox.exited;
    active.delete(sandbox);
    giveToWaiters();
    refill();
  }

  /** After a start has ended, well or not. */
  function settle(): void {
    if (closed) return;
    if (idle.length >= size) firstFillDone();
    giveToWaiters();
    fill();
  }

  /** Gives what is there to those who wait, in their order. */
  function giveToWaiters(): void {
    if (closed) return;
    for (const waiter of waiters) {
      if (active.size >= maxActive) break;
      const sandbox = idle.shift();
      if (sandbox === undefined) break;
      waiters.delete(waiter);
      waiter.give(handOut(sandbox));
    }
  }

  function waitForOne(signal: AbortSignal | undefined): Promise<Sandbox> {
    return new Promise((resolve, reject) => {
      const stopWaiting = (): void => {
        waiters.delete(waiter);
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const waiter: Waiter = {
        give(sandbox) {
          stopWaiting();
          resolve(sandbox);
        },
        refuse(error) {
          stopWaiting();
          reject(error);
        },
      };
      const timer = setTimeout(() => {
        waiter.refuse(unavailable(`no sandbox was free within ${maxWaitMs} ms`));
      }, maxWaitMs);
      const onAbort = (): void => {
        waiter.refuse(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      waiters.add(waiter);
      fill();
    });
  }

  settle();
  return {
    async take({ signal } = {}) {
      signal?.throwIfAborted();
      if (closed) throw unavailable('the sandbox pool is closed');
      // Whoever came earlier goes first.
      const sandbox = waiters.size === 0 && active.size < maxActive ? idle.shift() : undefined;
      if (sandbox !== undefined) {
        handOut(sandbox);
        refill();
        return sandbox;
      }
      if (waiters.size >= maxWaiting) throw unavailable('too many are waiting for a sandbox');
      return waitForOne(signal);
    },
    ready: () => firstFill,
    stats: () => ({
      idle: idle.length,
      starting: starting.size,
      active: active.size,
      waiting: waiters.size,
      takenTotal,
      startFailuresTotal,
      diedIdleTotal,
      refusedTotal,
    }),
    async close() {
      closed = true;
      clearTimeout(retryTimer);
      clearTimeout(refillTimer);
      firstFillFailed(unavailable('the sandbox pool is closed'));
      for (const waiter of waiters) waiter.refuse(unavailable('the sandbox pool is closed'));
      const held = idle.splice(0);
      await Promise.all([...held, ...active].map((sandbox) => sandbox.kill()));
      await Promise.all(starting);
    },
  };
}
