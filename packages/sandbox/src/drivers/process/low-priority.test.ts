import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EvaluateMessage, PROTOCOL_VERSION } from '@agent-rental/agent-runner';
import { describe, expect, test } from 'vitest';
import { FakeSandbox } from '../../protocol/fake-sandbox.test-support.js';
import { yieldToOthers } from './low-priority.js';
import { LOCAL_DRIVERS } from '../local-drivers.test-support.js';
import { descendants, recordedPids } from './process-tree.test-support.js';
import type { Sandbox, SandboxDriver } from '../../sandbox.js';

/** Work with a started sandbox and its processes. */
type Use = (sandbox: Sandbox, processes: () => number[]) => Promise<void>;

async function withSandbox(
  create: (options: { stateDir: string }) => Promise<SandboxDriver>,
  entry: 'runner' | 'evaluator',
  use: Use,
): Promise<void> {
  const stateDir = await mkdtemp(join(tmpdir(), 'sandbox state '));
  const driver = await create({ stateDir });
  try {
    const sandbox = await driver.start({ entry });
    const pids = await recordedPids(stateDir);
    await use(sandbox, () => [...pids, ...pids.flatMap(descendants)]);
  } finally {
    await driver.close();
    await rm(stateDir, { recursive: true });
  }
}

/** Name and priority of the scheduler's group of a process. */
function autogroupOf(pid: number | 'self'): { name: string; priority: number } {
  const [name = '', , priority] = readFileSync(`/proc/${pid}/autogroup`, 'utf8').split(' ');
  return { name, priority: Number(priority) };
}

/** Priorities of processes for the scheduler: the priority of a separate group, else the one of the process. */
function effectivePriorities(pids: readonly number[]): number[] {
  return pids.map((pid) => {
    if (!existsSync('/proc/self/autogroup') || autogroupOf(pid).name === autogroupOf('self').name) {
      return getPriority(pid);
    }
    return autogroupOf(pid).priority;
  });
}

const BUSY: EvaluateMessage = { type: 'evaluate', protocol: PROTOCOL_VERSION, code: 'for (;;);', task: '' };

describe.each(LOCAL_DRIVERS)('on $name', ({ create, runs: isHere }) => {
  test.runIf(isHere)('code of a model yields to the server, an agent does not', async () => {
    const own = getPriority();
    // No priority is below the lowest one, which this process may have.
    const below = Math.min(19, own + 10);
    await withSandbox(create, 'evaluator', async (_sandbox, processes) => {
      for (const pid of processes()) expect(getPriority(pid)).toBe(below);
      for (const priority of effectivePriorities(processes())) expect(priority).toBe(below);
    });
    await withSandbox(create, 'runner', async (_sandbox, processes) => {
      for (const pid of processes()) expect(getPriority(pid)).toBe(own);
    });
  });

  test.runIf(isHere)('code that works for long yields to code that has just started', async () => {
    await withSandbox(create, 'evaluator', async (sandbox, processes) => {
      sandbox.send(JSON.stringify(BUSY));
      await expect.poll(() => effectivePriorities(processes())).toEqual(processes().map(() => 19));
    });
  });
});

test('an ended sandbox does not touch a later process with its id', async () => {
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  await once(other, 'spawn');
  const pid = other.pid ?? 0;
  const ended = new FakeSandbox();
  const sandbox = yieldToOthers(ended, pid);
  const lowered = getPriority(pid);
  ended.end();
  await ended.exited;
  await sandbox.kill();
  expect(getPriority(pid)).toBe(lowered);
  other.kill();
  await once(other, 'exit');
});
