import type { ChildProcess } from 'node:child_process';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DENO_ENVIRONMENT } from './deno-command.js';
import { createDenoDriver, type DenoDriverOptions } from './deno-driver.js';
import { DENO_MODULES } from './deno-modules.js';
import { evaluateInSandbox } from '../../protocol/evaluate-in-sandbox.js';
import { sweepOrphans } from '../process/orphan-ledger.js';
import { identifyProcess } from '../process/process-identity.js';
import {
  BUILT,
  endNow,
  expectLimits,
  expectOwnDescriptors,
  recordedPids,
  startHost,
} from '../process/process-tree.test-support.js';
import type { SandboxDriver } from '../../sandbox.js';
import { createWarmPool } from '../../pool/warm-pool.js';

const NO_LAUNCHER = { setpriv: undefined, prlimit: undefined };

/** A separate host that keeps one sandbox busy for ever; runs the built code. */
const HOST = `
  import { createDenoDriver } from ${BUILT};
  const [stateDir, launcher] = process.argv.slice(1);
  const driver = await createDenoDriver({ stateDir, ...JSON.parse(launcher) });
  const sandbox = await driver.start({ entry: 'evaluator' });
  const code = "process.stdout.write('busy\\\\n'); for (;;);";
  sandbox.send(JSON.stringify({ type: 'evaluate', protocol: 1, code, task: 'x' }));
  for await (const line of sandbox.lines) if (line === 'busy') process.stdout.write('busy\\n');
`;

/** Starts take long on a busy machine. */
const STARTS = { timeout: 20_000 };

let stateDir: string;
let drivers: SandboxDriver[];
let sandboxPids: number[];

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'sandbox state '));
  drivers = [];
  sandboxPids = [];
});

afterEach(async () => {
  await Promise.all(drivers.map((driver) => driver.close()));
  for (const pid of await stillRunning(sandboxPids)) process.kill(pid, 'SIGKILL');
  await rm(stateDir, { recursive: true });
});

async function openDriver(options: Partial<DenoDriverOptions> = {}): Promise<SandboxDriver> {
  const driver = await createDenoDriver({ stateDir, ...options });
  drivers.push(driver);
  return driver;
}

/** A zombie stays in the process table; it does not run. */
async function isRunning(pid: number): Promise<boolean> {
  return (await identifyProcess(pid)) !== undefined;
}

async function stillRunning(pids: readonly number[]): Promise<number[]> {
  const running = await Promise.all(pids.map(isRunning));
  return pids.filter((_, at) => running[at]);
}

async function startBusyHost(launcher: object): Promise<{ host: ChildProcess; pid: number }> {
  const { host, line } = await startHost(HOST, [stateDir, JSON.stringify(launcher)]);
  expect(line).toBe('busy');
  sandboxPids = await recordedPids(stateDir);
  const [pid = 0] = sandboxPids;
  expect(await isRunning(pid)).toBe(true);
  return { host, pid };
}

describe('createDenoDriver', () => {
  test.each([
    ['', {}, process.platform === 'linux'],
    [' without util-linux, and promises less', { launcher: NO_LAUNCHER }, false],
  ])('passes its own probe and tells its promises%s', async (_where, options, isBounded) => {
    const driver = await openDriver(options);
    await driver.probe();
    expect(driver).toMatchObject({ name: 'deno', isolation: 'runtime' });
    expect(driver.guarantees).toEqual({
      memoryBounded: isBounded,
      memoryBound: isBounded ? 'rlimit' : 'none',
      threadsBounded: false,
      threadsBound: 'none',
      endsWithHost: isBounded,
    });
  });

  test('knows every built-in module of its Deno, and code imports none of them', async () => {
    const driver = await openDriver({ runtimeWall: 'permissions' });
    const pool = { take: () => driver.start({ entry: 'evaluator' }) };
    const code = `const { builtinModules } = await import('node:module'); return builtinModules;`;
    const evaluation = await evaluateInSandbox(pool, { code, task: 'x' }, { timeoutMs: 20_000 });
    const { value: carried } = evaluation as { value: string[] };
    expect(DENO_MODULES).toEqual(
      expect.arrayContaining(carried.map((name) => `node:${name.replace(/^node:/, '')}`)),
    );
  });

  test('leaves code all interfaces to compute, and its streams', async () => {
    const driver = await openDriver();
    const pool = { take: () => driver.start({ entry: 'evaluator' }) };
    const code = `
      const compressed = new Blob(['x'.repeat(1000)]).stream().pipeThrough(new CompressionStream('gzip'));
      const bytes = (await Array.fromAsync(compressed)).reduce((sum, { length }) => sum + length, 0);
      process.stdout.write('printed\\n');
      return {
        buffer: Buffer.from('aGk=', 'base64').toString(),
        digest: new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode('x'))).length,
        url: new URL('?a=1', 'https://example.com').searchParams.get('a'),
        clone: structuredClone(new Map([[1, 2]])).get(1),
        later: await new Promise((resolve) => setTimeout(resolve, 1, 'later')),
        zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
        compressed: bytes < 100,
        environment: process.env.HOME ?? null,
      };`;
    const evaluation = await evaluateInSandbox(pool, { code, task: 'x' }, { timeoutMs: 20_000 });
    const computed = { buffer: 'hi', digest: 32, url: '1', clone: 2, later: 'later', zone: 'UTC' };
    expect(evaluation).toEqual({
      value: { ...computed, compressed: true, environment: null },
      stdout: 'printed\n',
    });
  });

  test('the probe names the step that failed and its error', async () => {
    const driver = await openDriver({ denoBinary: '/nonexistent/deno' });
    await expect(driver.probe()).rejects.toMatchObject({
      name: 'SandboxProbeError',
      step: 'start the runner',
      message: expect.stringContaining('/nonexistent/deno'),
    });
  });

  test('a program that is not the runner is refused and ended', async () => {
    // Node does not know the flags of Deno and says so.
    const driver = await openDriver({ denoBinary: process.execPath });
    await expect(driver.start({ entry: 'runner' })).rejects.toThrow(/before it was ready/);
    expect(await recordedPids(stateDir)).toEqual([]);
  });

  test('closing leaves no process and no record', async () => {
    const driver = await createDenoDriver({ stateDir });
    const sandboxes = await Promise.all([
      driver.start({ entry: 'runner' }),
      driver.start({ entry: 'evaluator' }),
    ]);
    const pids = await recordedPids(stateDir);
    expect(pids).toHaveLength(2);
    await driver.close();
    expect(await stillRunning(pids)).toEqual([]);
    expect(await recordedPids(stateDir)).toEqual([]);
    for (const { exited } of sandboxes) expect(await exited).toMatchObject({ reason: 'killed' });
    await expect(driver.start({ entry: 'runner' })).rejects.toThrow('closed');
  });
});

describe.runIf(process.platform === 'linux')('the kernel’s knowledge of a sandbox', () => {
  test('its environment is empty, its limits are set and its privileges cannot grow', async () => {
    const driver = await openDriver();
    await driver.start({ entry: 'evaluator', limits: { memoryMb: 200, cpuSeconds: 7 } });
    const [pid = 0] = await recordedPids(stateDir);
    const read = (name: string): Promise<string> => readFile(`/proc/${pid}/${name}`, 'utf8');

    expect((await read('environ')).split('\0').filter(Boolean)).toEqual([
      `DENO_DIR=${join(stateDir, 'sandboxes', 'no-cache', 'deno')}`,
      ...Object.entries(DENO_ENVIRONMENT).map(([name, value]) => `${name}=${value}`),
    ]);
    const files = { 'open files': 64, 'file size': 4_096, 'core file size': 0 };
    await expectLimits(pid, { 'data size': 200 * 1024 * 1024, 'cpu time': 7, ...files });
    expect(await read('status')).toMatch(/NoNewPrivs:\s1/);
  });

  test('it holds no open file of its host', async () => {
    const driver = await openDriver();
    const handle = await open(new URL(import.meta.url));
    await driver.start({ entry: 'evaluator' });
    const [pid = 0] = await recordedPids(stateDir);
    await expectOwnDescriptors(pid);
    await handle.close();
  });
});

test('a pool notices that a warm sandbox was killed, and has another one instead', async () => {
  const driver = await openDriver();
  const pool = createWarmPool({ driver, entry: 'runner', size: 2, maxActive: 2, maxWaitMs: 10_000 });
  await pool.ready();
  const [pid = 0] = await recordedPids(stateDir);
  process.kill(pid, 'SIGKILL');
  const replaced = { diedIdleTotal: 1, idle: 2, starting: 0 };
  await vi.waitFor(() => expect(pool.stats()).toMatchObject(replaced), STARTS);
  expect(await recordedPids(stateDir)).not.toContain(pid);
  await pool.close();
});

describe('when the host is killed with SIGKILL', () => {
  test.runIf(process.platform === 'linux')('a busy sandbox ends with it', async () => {
    const { host, pid } = await startBusyHost({});
    await endNow(host);
    await vi.waitFor(async () => expect(await isRunning(pid)).toBe(false), STARTS);
    expect(await sweepOrphans(stateDir)).toEqual({ killed: 0, alreadyGone: 1, inUse: 0 });
  });

  test('without util-linux the next host ends it', async () => {
    const { host, pid } = await startBusyHost({ launcher: {} });
    expect(await sweepOrphans(stateDir)).toEqual({ killed: 0, alreadyGone: 0, inUse: 1 });
    await endNow(host);
    expect(await isRunning(pid)).toBe(true);
    expect(await sweepOrphans(stateDir)).toEqual({ killed: 1, alreadyGone: 0, inUse: 0 });
    expect(await isRunning(pid)).toBe(false);
    expect(await recordedPids(stateDir)).toEqual([]);
  });
});
