import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type E2bStandIn, type E2bStandInOptions, startE2bStandIn } from '@agent-rental/stand-in';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createE2bDriver, type E2bDriverOptions } from './e2b-driver.js';
import { nextLine, startCode } from '../../conformance/conformance-case.js';
import { evaluateInSandbox } from '../../protocol/evaluate-in-sandbox.js';
import type { SandboxDriver } from '../../sandbox.js';
import { createWarmPool } from '../../pool/warm-pool.js';

/** Starts take long on a busy machine. */
const STARTS = { timeout: 20_000 };
/** The time limit of a call that ends a machine. */
const CALL_LIMIT_MS = 10_000;

let stateDir: string;
let standIn: E2bStandIn;
const drivers: SandboxDriver[] = [];

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'sandbox state '));
});
afterEach(async () => {
  await Promise.all(drivers.splice(0).map((driver) => driver.close()));
  await standIn.close();
  await rm(stateDir, { recursive: true });
});

async function createDriver(
  options: Partial<E2bDriverOptions> = {},
  standInOptions?: E2bStandInOptions,
): Promise<SandboxDriver> {
  standIn ??= await startE2bStandIn(standInOptions);
  const driver = await createE2bDriver({
    apiKey: standIn.apiKey,
    apiUrl: standIn.url,
    sandboxUrl: standIn.url,
    stateDir,
    maxSandboxes: 20,
    createsPerSecond: 1_000,
    ...options,
  });
  drivers.push(driver);
  return driver;
}

async function rejection(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => expect.unreachable('it was not refused'),
    (error: unknown) => error as Error,
  );
}

/** Whether a process runs, by /proc; a zombie does not. */
const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('createE2bDriver', () => {
  beforeEach(async () => {
    standIn = await startE2bStandIn();
  });

  test('creates machines without internet and public address, and announces its guarantees', async () => {
    const driver = await createDriver({ template: 'our-template' });
    await driver.start({ entry: 'runner' });
    expect(standIn.creates[0]).toMatchObject({
      templateID: 'our-template',
      allow_internet_access: false,
      network: { allowPublicTraffic: false },
    });
    const lifetimeMs = (standIn.creates[0]?.timeout ?? 0) * 1000;
    expect(driver).toMatchObject({ name: 'e2b', isolation: 'microvm', capacity: { maxSandboxes: 20 } });
    // The oldest idle machine still lives for the longest run.
    expect(lifetimeMs - (driver.capacity?.maxIdleMs ?? 0)).toBeGreaterThan(360_000);
  });

  test('closing leaves no machine and no process', async () => {
    const driver = await createDriver();
    const sandboxes = await Promise.all([
      driver.start({ entry: 'runner' }),
      driver.start({ entry: 'evaluator' }),
    ]);
    const pids = [...standIn.machines.values()].flatMap((machine) => machine.pids);
    expect(pids.filter(isRunning)).toHaveLength(2);
    await driver.close();
    expect(standIn.machines.size).toBe(0);
    expect(pids.filter(isRunning)).toEqual([]);
    for (const { exited } of sandboxes) expect(await exited).toMatchObject({ reason: 'killed' });
    await expect(driver.start({ entry: 'runner' })).rejects.toThrow('closed');
  });

  test('closing waits for machines whose command has just ended by itself', async () => {
    const driver = await createDriver();
    await Promise.all(
      [1, 2, 3].map(async () => {
        const sandbox = await startCode(driver, 'return 1;');
        for await (const _ of sandbox.lines);
        // As its user does; a machine that ends by itself is not waited for.
        await sandbox.kill();
      }),
    );
    await driver.close();
    expect(standIn.machines.size).toBe(0);
  });

  test.each([
    [{ status: 404, message: "template 'none' not found" }, /template "none" \(404\).*E2B_TEMPLATE/],
    [{ status: 429, message: 'too many' }, /limits \(429\).*E2B_MAX_SANDBOXES/],
    [{ status: 503, message: 'busy' }, /no capacity at the moment \(503\)/],
    [{ status: 500, message: 'oops' }, /E2B failed \(500\)/],
  ])('gives the remedy of %j at once', async (refusal, words) => {
    const driver = await createDriver({ template: 'none' });
    standIn.refuseNext({ ...refusal, message: `${refusal.message} ${standIn.apiKey}` });
    const error = await rejection(driver.start({ entry: 'runner' }));
    expect(error.name).toBe('SandboxStartError');
    expect(error.message).toMatch(words);
    expect(JSON.stringify([error.message, error.stack, error.cause])).not.toContain(standIn.apiKey);
    await expect(driver.start({ entry: 'runner' })).resolves.toBeDefined();
  });

  test('a wrong key and a wrong address are reported at once', async () => {
    const wrongKey = await rejection(createDriver({ apiKey: 'e2b_wrong' }));
    expect(wrongKey.message).toMatch(/refused the key \(401\): set E2B_API_KEY/);
    const wrongAddress = await rejection(createDriver({ apiUrl: 'http://127.0.0.1:1' }));
    expect(wrongAddress.message).toMatch(/cannot be reached.*E2B_API_URL/);
  });

  test('creates machines no faster than its limit', async () => {
    const driver = await createDriver({ createsPerSecond: 10 });
    await Promise.all([1, 2, 3, 4].map(() => driver.start({ entry: 'evaluator' })));
    const times = standIn.creates.map(({ at }) => at);
    const gaps = times.slice(1).map((at, before) => at - (times[before] ?? 0));
    // A request may be on its way for longer than the next one; the sum cannot lie.
    expect(gaps.reduce((sum, gap) => sum + gap, 0)).toBeGreaterThan(250);
  });

  test('ends its leftovers after a kill, and no machine of another host', async () => {
    await (await createDriver()).start({ entry: 'runner' });
    const [left] = standIn.machines.keys();
    const otherDir = await mkdtemp(join(tmpdir(), 'sandbox state '));
    await (await createDriver({ stateDir: otherDir })).start({ entry: 'runner' });
    expect(standIn.machines.size).toBe(2);
    await createDriver();
    expect(standIn.machines.size).toBe(1);
    expect(standIn.machines.has(left ?? '')).toBe(false);
    await rm(otherDir, { recursive: true });
  });

  test('a machine that dies ends its sandbox, and no longer exists', async () => {
    const driver = await createDriver();
    const sandbox = await driver.start({ entry: 'runner' });
    const [machine] = standIn.machines.values();
    await machine?.end();
    expect(await sandbox.exited).toMatchObject({ reason: 'lost' });
    await sandbox.gone;
    expect(standIn.machines.size).toBe(0);
  });

  test('a machine in use that does not answer any more is lost', async () => {
    const driver = await createDriver({ lookMs: 300 });
    const sandbox = await driver.start({ entry: 'runner' });
    const answer = standIn.hangMachines();
    sandbox.send('a line');
    expect(await sandbox.exited).toMatchObject({ reason: 'lost' });
    answer();
    await sandbox.gone;
  });

  test('a 429 of E2B slows the next creates down', async () => {
    const driver = await createDriver();
    standIn.refuseNext({ status: 429, message: 'too many' });
    const refusedAfter = performance.now();
    await rejection(driver.start({ entry: 'evaluator' }));
    await Promise.all([1, 2].map(() => driver.start({ entry: 'evaluator' })));
    const waits = standIn.creates.map(({ at }) => at - refusedAfter);
    expect(waits[0]).toBeGreaterThan(990);
    expect(waits[1]).toBeGreaterThan(1_990);
  });

  test('the end of a machine is tried again after a failure, and reported', async () => {
    const onLeft = vi.fn<(sandboxId: string, error: unknown) => void>();
    const driver = await createDriver({ onLeft });
    const sandbox = await driver.start({ entry: 'runner' });
    const [id = ''] = standIn.machines.keys();
    standIn.refuseKills(500);
    await sandbox.kill();
    await vi.waitFor(() => expect(onLeft).toHaveBeenCalledExactlyOnceWith(id, expect.anything()), STARTS);
    standIn.refuseKills(undefined);
    await sandbox.gone;
    expect(standIn.machines.size).toBe(0);
  });

  test('an end that E2B does not answer holds neither the run nor the close, and keeps its place', async () => {
    const driver = await createDriver();
    const pool = createWarmPool({ driver, entry: 'evaluator', size: 0, maxActive: 2, maxWaitMs: 20_000 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    standIn.refuseKills('hang');
    const begunAt = performance.now();
    const ending = { code: 'process.exit(3);', task: 'x' };
    expect(await evaluateInSandbox(pool, ending, { timeoutMs: 20_000 })).toHaveProperty('error');
    // The call to E2B has a limit of 10 s. The run waits for a shorter time.
    expect(performance.now() - begunAt).toBeLessThan(9_000);
    expect(pool.stats()).toMatchObject({ active: 1 });
    expect(standIn.machines.size).toBe(1);
    standIn.refuseKills(undefined);
    await vi.advanceTimersByTimeAsync(CALL_LIMIT_MS);
    await vi.waitFor(() => expect(pool.stats()).toMatchObject({ active: 0 }), { timeout: 20_000 });
    expect(standIn.machines.size).toBe(0);
    standIn.refuseKills('hang');
    const taken = await pool.take();
    const closedAt = performance.now();
    await pool.close();
    expect(performance.now() - closedAt).toBeLessThan(9_000);
    await expect(taken.exited).resolves.toMatchObject({ reason: 'killed' });
    standIn.refuseKills(undefined);
    await vi.advanceTimersByTimeAsync(CALL_LIMIT_MS);
  });

  test('a machine that comes after the time for it is ended', async () => {
    const driver = await createDriver();
    const release = standIn.holdNextCreate();
    const limits = { startTimeoutMs: 500 };
    const error = await rejection(driver.start({ entry: 'evaluator', limits }));
    expect(error).toMatchObject({ name: 'SandboxStartError' });
    expect(standIn.machines.size).toBe(1);
    release();
    await vi.waitFor(() => expect(standIn.machines.size).toBe(0), STARTS);
  });

  test('the probe finds a machine that reaches a network', async () => {
    const driver = await createDriver({ probeAddress: { host: '127.0.0.1', port: 1 } });
    await driver.probe();
    expect(standIn.machines.size).toBe(0);
    await (await createDriver()).probe();

    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const open = await createDriver({ probeAddress: { host: '127.0.0.1', port } });
    const error = await rejection(open.probe());
    expect(error).toMatchObject({
      name: 'SandboxProbeError',
      step: 'run code without a network',
      message: expect.stringContaining(`reached 127.0.0.1:${port}`),
    });
    server.close();
  });
});

test('a pool on it stays within the limits of the account, and replaces a machine that dies', async () => {
  standIn = await startE2bStandIn({ maxSandboxes: 4 });
  const driver = await createDriver({ maxSandboxes: 4 });
  const limits = { maxActive: 10, maxWaitMs: 20_000, maxSandboxes: 4, maxConcurrentStarts: 4 };
  const pool = createWarmPool({ driver, entry: 'runner', size: 2, ...limits });
  await pool.ready();
  const [machine] = standIn.machines.values();
  await machine?.end();
  await vi.waitFor(() => expect(pool.stats()).toMatchObject({ diedIdleTotal: 1, idle: 2 }), STARTS);
  const runs = Array.from({ length: 10 }, async () => {
    const sandbox = await pool.take();
    await sandbox.kill();
  });
  await Promise.all(runs);
  expect(standIn.mostMachines).toBeLessThanOrEqual(4);
  expect(pool.stats()).toMatchObject({ takenTotal: 10, startFailuresTotal: 0, refusedTotal: 0 });
  await pool.close();
});

test('lines arrive in the order in which they were sent, however long each call takes', async () => {
  let call = 0;
  standIn = await startE2bStandIn({ inputDelayMs: () => [40, 0, 20, 5][call++ % 4] ?? 0 });
  const driver = await createDriver();
  const sandbox = await startCode(
    driver,
    `
    const { readSync } = await import('node:fs');
    const part = Buffer.alloc(65536);
    let text = '';
    while (!text.endsWith('end\\n')) {
      try { text += part.toString('utf8', 0, readSync(0, part)); } catch {}
    }
    return text.split('\\n').map((line) => line.length > 10 ? line.length : line);`,
  );
  await vi.waitFor(() => expect(call).toBe(1), { timeout: 15_000 });
  const numbers = Array.from({ length: 20 }, (_, index) => String(index));
  for (const line of [...numbers, 'x'.repeat(2_000_000), 'end']) {
    sandbox.send(line);
    // Without waiting for it; a moment later, so that they do not all go in one call.
    await new Promise((later) => setTimeout(later, 2));
  }
  expect(JSON.parse((await nextLine(sandbox)) ?? '')).toMatchObject({
    value: [...numbers, 2_000_000, 'end', ''],
  });
  expect(call).toBeGreaterThan(4);
});
