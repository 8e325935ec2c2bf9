import { FairQueue } from './fair-queue.js';
import { FairShares, type Owner } from './fair-shares.js';
import { Reserve } from './reserve.js';
import { SandboxUnavailableError, type WarmPool, type WarmPoolOptions } from './sandbox-pool.js';
import type { Sandbox } from '../sandbox.js';

/**
 * The start of a sandbox costs the machine as much as the starts of dozens of runs. The pool therefore replaces taken sandboxes
 * a moment later, when runs that came together have started. Further takes delay the refill, for a bounded time.
 */
const REFILL_DELAY_MS = 50;
const LONGEST_REFILL_DELAY_MS = 1_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

export function createWarmPool(options: WarmPoolOptions): WarmPool {
  const { driver, entry, language, limits, maxActive, maxWaitMs, onStartFailure } = options;
  const { maxWaiting = 256, maxConcurrentStarts = 2, maxSandboxes = Infinity } = options;
  const { isBusy = () => false } = options;
  const maxIdleMs = driver.capacity?.maxIdleMs;
  const retryAfterSeconds = Math.max(1, Math.ceil(maxWaitMs / 1000));
  const size = Math.min(options.size, maxSandboxes);
  const reserve = new Reserve(size);
  const active = new FairShares(maxActive);
  const starting = new Set<Promise<void>>();
  const ending = new Set<Sandbox>();
  const queue = new FairQueue<Sandbox>();
  let firstFillDone = (): void => {};
  let firstFillFailed = (_error: unknown): void => {};
  const firstFill = new Promise<void>((resolve, reject) => {
    firstFillDone = resolve;
    firstFillFailed = reject;
  });
  // Calling ready() is optional; without it a rejection would be unhandled.
  firstFill.catch(() => {});
  let failuresInRow = 0;
  let lastFailure: unknown;
  let retryTimer: NodeJS.Timeout | undefined;
  let refillTimer: NodeJS.Timeout | undefined;
  /** Due time of the refill, in milliseconds of `performance.now`. Each take delays it. */
  let refillAt = 0;
  let refillBy = 0;
  let recycleTimer: NodeJS.Timeout | undefined;
  let closed = false;
  let takenTotal = 0;
  let startsTotal = 0;
  let startFailuresTotal = 0;
  let diedIdleTotal = 0;
  let recycledTotal = 0;
  let refusedTotal = 0;

  function unavailable(message: string): SandboxUnavailableError {
    refusedTotal += 1;
    return new SandboxUnavailableError(
      message,
      retryAfterSeconds,
      lastFailure === undefined ? {} : { cause: lastFailure },
    );
  }

  /** Starts missing sandboxes that have a slot: the reserve, and one for each waiting call that may have one. */
  function fill(): void {
    if (closed || retryTimer !== undefined) return;
    const owed = active.slotsFor(queue.owners(), (owner) => queue.waitingOf(owner));
    const coming = reserve.count + starting.size;
    let missing = Math.min(size + owed - coming, maxSandboxes - coming - active.size - ending.size);
    while (missing > 0 && starting.size < maxConcurrentStarts) {
      missing -= 1;
      const start: Promise<void> = startOne().finally(() => {
        starting.delete(start);
        settle();
      });
      starting.add(start);
    }
  }

  /** Fills the reserve soon; at once when a call waits. */
  function refill(): void {
    if (queue.length > 0) fill();
    if (closed) return;
    refillAt = performance.now() + REFILL_DELAY_MS;
    // A take waits for this code, so the present timer stays. It reads `refillAt` when it fires.
    if (refillTimer !== undefined) return;
    refillBy = refillAt - REFILL_DELAY_MS + LONGEST_REFILL_DELAY_MS;
    refillWhenDue();
  }

  function refillWhenDue(): void {
    const waitMs = Math.min(refillAt, refillBy) - performance.now();
    refillTimer = setTimeout(() => {
      refillTimer = undefined;
      const now = performance.now();
      if (isBusy()) refillAt = Math.max(refillAt, now + REFILL_DELAY_MS);
      if (Math.min(refillAt, refillBy) > now) refillWhenDue();
      else fill();
    }, waitMs);
    refillTimer.unref();
  }

  async function startOne(): Promise<void> {
    let sandbox: Sandbox;
    try {
      sandbox = await driver.start({
        entry,
        ...(language === undefined ? {} : { language }),
        ...(limits === undefined ? {} : { limits }),
      });
    } catch (error) {
      startFailed(error);
      return;
    }
    startsTotal += 1;
    failuresInRow = 0;
    lastFailure = undefined;
    if (closed) {
      await sandbox.kill();
      return;
    }
    reserve.add(sandbox);
    void replaceWhenDead(sandbox);
    recycleInTime();
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
    if (!reserve.remove(sandbox)) return;
    diedIdleTotal += 1;
    await giveUp(sandbox);
  }

  /** Ends an unused sandbox, and starts another one in the next free slot. */
  async function giveUp(sandbox: Sandbox): Promise<void> {
    ending.add(sandbox);
    fill();
    await sandbox.kill();
    await sandbox.gone;
    ending.delete(sandbox);
    fill();
  }

  /** Gives up sandboxes after the longest wait that the driver allows, and sets the timer for the next one. */
  function recycleInTime(): void {
    if (maxIdleMs === undefined || recycleTimer !== undefined || closed) return;
    const { oldestSince } = reserve;
    if (oldestSince === undefined) return;
    recycleTimer = setTimeout(
      () => {
        recycleTimer = undefined;
        for (let since = reserve.oldestSince; since !== undefined; since = reserve.oldestSince) {
          if (performance.now() - since < maxIdleMs) break;
          const old = reserve.takeOldest();
          if (old === undefined) break;
          recycledTotal += 1;
          void giveUp(old);
        }
        recycleInTime();
      },
      oldestSince + maxIdleMs - performance.now(),
    );
    recycleTimer.unref();
  }

  function handOut(owner: Owner, sandbox: Sandbox): Sandbox {
    takenTotal += 1;
    active.add(owner, sandbox);
    void releaseWhenGone(sandbox);
    return sandbox;
  }

  async function releaseWhenGone(sandbox: Sandbox): Promise<void> {
    await sandbox.gone;
    active.remove(sandbox);
    giveToWaiters();
    refill();
  }

  /** Runs after a start, also a failed one. */
  function settle(): void {
    if (closed) return;
    if (reserve.isFull) firstFillDone();
    giveToWaiters();
    fill();
  }

  /** Gives the idle sandboxes to waiting calls, by the shares of their owners. */
  function giveToWaiters(): void {
    if (closed) return;
    for (let owner = active.next(queue.owners()); owner !== undefined; owner = active.next(queue.owners())) {
      const sandbox = reserve.takeOldest();
      if (sandbox === undefined) break;
      queue.give(owner, handOut(owner, sandbox));
    }
  }

  settle();
  return {
    async take({ signal, owner: given } = {}) {
      const owner: Owner = given ?? Symbol('take');
      signal?.throwIfAborted();
      if (closed) throw unavailable('the sandbox pool is closed');
      // Waiting calls come first, unless their owner has all the sandboxes that it may have.
      const mayTake = active.mayTake(owner) && active.next(queue.owners()) === undefined;
      const sandbox = mayTake ? reserve.takeOldest() : undefined;
      if (sandbox !== undefined) {
        handOut(owner, sandbox);
        refill();
        return sandbox;
      }
      if (queue.length >= maxWaiting) throw unavailable('too many are waiting for a sandbox');
      const taken = queue.wait({
        owner,
        maxWaitMs,
        late: () => unavailable(`no sandbox was free within ${maxWaitMs} ms`),
        signal,
      });
      fill();
      return taken;
    },
    ready: () => firstFill,
    stats: () => ({
      idle: reserve.count,
      starting: starting.size,
      active: active.size,
      ending: ending.size,
      waiting: queue.length,
      refillMs: reserve.refillMs,
      takenTotal,
      startsTotal,
      startFailuresTotal,
      diedIdleTotal,
      recycledTotal,
      refusedTotal,
    }),
    async close() {
      closed = true;
      clearTimeout(retryTimer);
      clearTimeout(refillTimer);
      clearTimeout(recycleTimer);
      firstFillFailed(unavailable('the sandbox pool is closed'));
      queue.refuseAll(() => unavailable('the sandbox pool is closed'));
      const held = reserve.takeAll();
      await Promise.all([...held, ...active.sandboxes(), ...ending].map((sandbox) => sandbox.kill()));
      await Promise.all(starting);
    },
  };
}
