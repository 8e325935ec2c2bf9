import { chmod, mkdtemp, open, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createBubblewrapDriver } from './bubblewrap-driver.js';
import { nextLine, startCode } from '../../conformance/conformance-case.js';
import { DENO_ENVIRONMENT } from '../deno/deno-command.js';
import { onHardenedMachine } from './hardened-machine.test-support.js';
import { createLocalDriver } from '../local-driver.js';
import {
  descendants,
  expectLimits,
  expectOwnDescriptors,
  recordedPids,
  runningOf,
} from '../process/process-tree.test-support.js';
import { type Sandbox, type SandboxDriver, SandboxProbeError } from '../../sandbox.js';

/** Busy in its main thread and in a second one. Only the open evaluator allows a second thread. */
const BUSY = `
  new Worker('data:text/javascript,for(;;);', { type: 'module' });
  await new Promise((resolve) => setTimeout(resolve, 50));
  process.stdout.write('busy\\n'); for (;;);`;

let stateDir: string;
let drivers: SandboxDriver[];

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'sandbox state '));
  drivers = [];
});
afterEach(async () => {
  await Promise.all(drivers.map((driver) => driver.close()));
  await rm(stateDir, { recursive: true });
});

async function openDriver(creation: Promise<SandboxDriver>): Promise<SandboxDriver> {
  const driver = await creation;
  drivers.push(driver);
  return driver;
}

async function startBusy(driver: SandboxDriver): Promise<{ sandbox: Sandbox; pids: number[] }> {
  const before = new Set(await recordedPids(stateDir));
  const sandbox = await startCode(driver, BUSY);
  expect(await nextLine(sandbox)).toBe('busy');
  const [outer = 0] = (await recordedPids(stateDir)).filter((pid) => !before.has(pid));
  const pids = [outer, ...descendants(outer)];
  // bubblewrap, and Deno in the sandbox
  expect(pids).toHaveLength(2);
  return { sandbox, pids };
}

/** A stand-in for bubblewrap that fails with the given text. */
async function failingBubblewrap(words: string): Promise<string> {
  const path = join(stateDir, 'bwrap');
  await writeFile(path, `#!/bin/sh\necho "bwrap: ${words}" >&2\nexit 1\n`);
  await chmod(path, 0o755);
  await chmod(stateDir, 0o755);
  return path;
}

describe('the choice of a sandbox for this machine', () => {
  test('without bubblewrap is Deno, with a notice of the missing package', async () => {
    const driver = await openDriver(createLocalDriver({ stateDir, choice: 'auto', bwrap: '/nonexistent' }));
    expect(driver).toMatchObject({ name: 'deno', isolation: 'runtime', capabilities: { python: false } });
    expect(driver.notices).toHaveLength(1);
    expect(driver.notices?.[0]).toMatch(
      /"find (bubblewrap": it is not installed: install bubblewrap 0\.8|Linux")/,
    );
  });

  test('fails where the hardened sandbox is required and does not work', async () => {
    const bwrap = await failingBubblewrap('No permissions to create a new namespace');
    await expect(createLocalDriver({ stateDir, choice: 'bubblewrap', bwrap })).rejects.toThrow(
      SandboxProbeError,
    );
  });

  test('is Deno on request', async () => {
    const driver = await openDriver(createLocalDriver({ stateDir, choice: 'deno' }));
    expect(driver).toMatchObject({ name: 'deno', isolation: 'runtime' });
    expect(driver.notices ?? []).toEqual([]);
  });
});

describe.runIf(onHardenedMachine)('the hardened sandbox', () => {
  test('is what this machine chooses, and passes its own probe', async () => {
    const driver = await openDriver(createLocalDriver({ stateDir, choice: 'auto' }));
    expect(driver).toMatchObject({
      name: 'bubblewrap',
      isolation: 'kernel',
      guarantees: { memoryBounded: true, endsWithHost: true },
    });
    expect(await recordedPids(stateDir)).toEqual([]);
  });

  test('is behind every wall that the kernel has', async () => {
    const driver = await openDriver(createBubblewrapDriver({ stateDir }));
    const handle = await open(new URL(import.meta.url));
    await driver.start({ entry: 'evaluator', limits: { memoryMb: 200, cpuSeconds: 7 } });
    const [outer = 0] = await recordedPids(stateDir);
    const inner = descendants(outer).at(-1) ?? 0;
    const read = (name: string): Promise<string> => readFile(`/proc/${inner}/${name}`, 'utf8');

    expect((await read('environ')).split('\0').filter(Boolean)).toEqual([
      'DENO_DIR=/none',
      ...Object.entries(DENO_ENVIRONMENT).map(([name, value]) => `${name}=${value}`),
      'PWD=/',
    ]);
    expect(await readFile(`/proc/${outer}/environ`, 'utf8')).toBe('');
    const status = await read('status');
    expect(status).toMatch(/^NoNewPrivs:\s1$/m);
    expect(status).toMatch(/^Seccomp:\s2$/m);
    for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) {
      expect(status).toMatch(new RegExp(`^${set}:\\s0{16}$`, 'm'));
    }
    // Root only where that is announced.
    expect(/^Uid:\s0\s/m.test(status)).toBe(driver.guarantees.threadsBounded === false);

    const memory = { 'data size': 200 * 1024 * 1024, 'address space': 64 * 1024 ** 3 };
    const files = { 'open files': 64, 'file size': 4_096, 'core file size': 0 };
    await expectLimits(inner, { ...memory, 'cpu time': 7, ...files });
    expect(await read('limits')).toMatch(/^Max processes\s+(1\d|2[0-6])\s/m);

    for (const namespace of ['user', 'pid', 'net', 'mnt', 'ipc', 'uts', 'cgroup']) {
      const [own, theirs] = await Promise.all([
        readlink(`/proc/self/ns/${namespace}`),
        readlink(`/proc/${inner}/ns/${namespace}`),
      ]);
      expect(theirs, namespace).not.toBe(own);
    }
    const writable = (await read('mounts'))
      .split('\n')
      .filter((line) => line !== '' && !/^\S+ \S+ \S+ ro(,|\s)/.test(line));
    expect(writable).toEqual([]);
    expect(await read('mounts'), 'no /proc, no /dev').not.toMatch(/^(proc|sysfs|devtmpfs|devpts) /m);
    expect(await readdir(`/proc/${inner}/root`)).toEqual(
      expect.arrayContaining(['app', 'deno', 'proc', 'prlimit']),
    );
    expect(await readdir(`/proc/${inner}/root/proc/self`)).toEqual(['exe']);
    expect(await readdir(`/proc/${inner}/root/app`)).toEqual(['runner.mjs']);
    expect(await read('maps'), 'memory that can be written and executed').not.toMatch(/ rwx/);

    await expectOwnDescriptors(inner);
    await handle.close();
  });

  test('leaves no process behind when it is killed, within half a second', async () => {
    const driver = await openDriver(createBubblewrapDriver({ stateDir, runtimeWall: 'permissions' }));
    const busy = [];
    for (let started = 0; started < 5; started += 1) busy.push(await startBusy(driver));
    const times: number[] = [];
    for (const { sandbox, pids } of busy) {
      const before = performance.now();
      await sandbox.kill();
      times.push(performance.now() - before);
      expect(runningOf(pids)).toEqual([]);
      expect(await sandbox.exited).toMatchObject({ reason: 'killed' });
    }
    // The middle one: others use this machine, too.
    expect(times.toSorted((a, b) => a - b)[2]).toBeLessThan(500);
    expect(await recordedPids(stateDir)).toEqual([]);
  });

  test('leaves no process behind when its driver closes while it starts', async () => {
    const driver = await openDriver(createBubblewrapDriver({ stateDir }));
    const before = new Set(descendants(process.pid));
    const starts = Array.from({ length: 4 }, () => driver.start({ entry: 'runner' }).catch(() => undefined));
    await driver.close();
    await Promise.all(starts);
    const left = (): number[] => descendants(process.pid).filter((pid) => !before.has(pid));
    await vi.waitFor(() => expect(left()).toEqual([]), { timeout: 15_000 });
    expect(await recordedPids(stateDir)).toEqual([]);
  });

  test('says at which step this machine fails, and what to do', async () => {
    const bwrap = await failingBubblewrap('Unknown option --disable-userns');
    await expect(createBubblewrapDriver({ stateDir, bwrap })).rejects.toMatchObject({
      name: 'SandboxProbeError',
      step: 'start a process behind bubblewrap',
      message: expect.stringMatching(/Unknown option --disable-userns.*bubblewrap 0\.8 or later/) as string,
    });
  });
});
