import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SandboxStartError } from '../../../sandbox.js';
import { createDenoDriver } from '../../deno/deno-driver.js';
import { locateTool } from '../linux-launcher.js';
import { BUILT, descendants, endNow, runningOf, startHost } from '../process-tree.test-support.js';
import type { ProcessRequest, SandboxSpawner } from './spawner.js';
import { openSpawnerProcess } from './spawner-process.js';

const TITLE = 'agent-rental sandbox spawner';

let folder: string;
let spawner: SandboxSpawner;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandbox state '));
  spawner = openSpawnerProcess(folder, locateTool('mkfifo') ?? 'mkfifo');
});
afterEach(async () => {
  await spawner.close();
  await rm(folder, { recursive: true });
});

function shell(script: string, changes: Partial<ProcessRequest> = {}): ProcessRequest {
  const args = ['--pdeathsig', 'KILL', '--', '/bin/sh', '-c', script];
  return {
    file: locateTool('setpriv') ?? 'setpriv',
    args,
    env: {},
    cwd: '/',
    endMethod: 'process',
    ...changes,
  };
}

function spawnerProcessOf(parent: number): number | undefined {
  return descendants(parent).find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith(TITLE));
}

describe.runIf(process.platform === 'linux')('the process that starts sandboxes', () => {
  test('gives a process its stdio and only its environment, and reports its end', async () => {
    const child = await spawner.spawn(shell('read line; echo "$line"; env; echo no >&2; exit 3'));
    child.stdin.write('a line\n');
    const [output, error, end] = await Promise.all([text(child.stdout), text(child.stderr), child.ended]);
    expect(output).toMatch(/^a line\n(?:(?:PWD|OLDPWD|SHLVL|_)=.*\n)*$/);
    expect(error).toBe('no\n');
    expect(end).toEqual({ code: 3, signal: null });
    expect(await readdir(join(folder, (await readdir(folder))[0] ?? '')), 'names of its pipes').not.toContain(
      '1',
    );
    child.stdin.destroy();
  });

  test('reports the reason of a failed start, and starts the next process', async () => {
    const missing = shell('', { file: '/nonexistent/program' });
    await expect(spawner.spawn(missing)).rejects.toThrow(SandboxStartError);
    await expect(spawner.spawn(missing)).rejects.toThrow('/nonexistent/program');
    const opened = shell('', { files: [{ descriptor: 3, path: '/nonexistent/file', flags: 'r' }] });
    await expect(spawner.spawn(opened)).rejects.toThrow('/nonexistent/file');
    const child = await spawner.spawn(shell('exit 0'));
    expect(await child.ended).toEqual({ code: 0, signal: null });
    child.stdin.destroy();
  });

  test('is started again after its end, and its sandboxes have ended with it', async () => {
    const child = await spawner.spawn(shell('echo started; exec sleep 600'));
    await once(child.stdout, 'data');
    const first = spawnerProcessOf(process.pid) ?? 0;
    process.kill(first, 'SIGKILL');
    expect(await child.ended).toEqual({ code: null, signal: 'SIGKILL' });
    await vi.waitFor(() => expect(runningOf([child.pid])).toEqual([]));
    child.end();
    const next = await spawner.spawn(shell('exit 0'));
    expect(await next.ended).toEqual({ code: 0, signal: null });
    expect(spawnerProcessOf(process.pid)).not.toBe(first);
    for (const { stdin } of [child, next]) stdin.destroy();
  });

  test('outlives the signals that a terminal sends to all processes', async () => {
    const child = await spawner.spawn(shell('echo started; exec cat'));
    await once(child.stdout, 'data');
    const pid = spawnerProcessOf(process.pid) ?? 0;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal);
    child.stdin.write('still here\n');
    await once(child.stdout, 'data');
    const other = await spawner.spawn(shell('exit 0'));
    expect(await other.ended).toEqual({ code: 0, signal: null });
    expect(spawnerProcessOf(process.pid)).toBe(pid);
    child.end();
    expect(await child.ended).toEqual({ code: null, signal: 'SIGKILL' });
    for (const { stdin } of [child, other]) stdin.destroy();
  });

  test('has ended once it is closed, also where it does not answer [OPS-6]', async () => {
    for (const isStopped of [false, true]) {
      const one = openSpawnerProcess(folder, locateTool('mkfifo') ?? 'mkfifo');
      const child = await one.spawn(shell('exit 0'));
      await child.ended;
      const pid = spawnerProcessOf(process.pid) ?? 0;
      if (isStopped) process.kill(pid, 'SIGSTOP');
      await one.close();
      expect(runningOf([pid])).toEqual([]);
      child.stdin.destroy();
    }
  });

  test('ends with a killed server, and does not delay the end of a finished one [EXE-47]', async () => {
    const code = `
      import { createDenoDriver } from ${BUILT};
      const driver = await createDenoDriver({ stateDir: process.argv[1] });
      const sandbox = await driver.start({ entry: 'runner' });
      console.log('started');`;
    const killed = await startHost(code, [folder]);
    const tree = descendants(killed.pid);
    expect(tree.length).toBeGreaterThanOrEqual(2);
    await endNow(killed.host);
    await vi.waitFor(() => expect(runningOf(tree)).toEqual([]));

    const done = await startHost(`${code}\nawait sandbox.kill();`, [folder]);
    expect(await once(done.host, 'exit')).toEqual([0, null]);
  });
});

test('a driver that is closed while a sandbox starts leaves none', async () => {
  const driver = await createDenoDriver({ stateDir: folder });
  const start = driver.start({ entry: 'runner' });
  // Awaited below.
  start.catch(() => undefined);
  await driver.close();
  await expect(start).rejects.toThrow('closed');
  expect(descendants(process.pid).filter((pid) => pid !== spawnerProcessOf(process.pid))).toEqual([]);
});
