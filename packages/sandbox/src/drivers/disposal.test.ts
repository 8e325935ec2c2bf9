import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ModelCompleteResult } from '@agent-rental/agent-runner';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { driveRun } from '../protocol/drive-run.js';
import type { RunOutcome } from '../protocol/run-options.js';
import { evaluateInSandbox } from '../protocol/evaluate-in-sandbox.js';
import { LOCAL_DRIVERS } from './local-drivers.test-support.js';
import { descendants } from './process/process-tree.test-support.js';
import type { SandboxDriver } from '../sandbox.js';

/** The specification's limit: gone within this many milliseconds of the abort. */
const GONE_MS = 500;

let stateDir: string;
let driver: SandboxDriver;

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'sandbox state '));
});
afterEach(async () => {
  await driver?.close();
  await rm(stateDir, { recursive: true });
});

/** Marks of sandboxes in command lines: the runner's file, or the text of the evaluator. */
const SANDBOX = /runner\.mjs|data:text\/javascript;base64,/;

/** The text of a process's file in /proc; empty when the process is gone. */
function textOf(pid: number, file: 'stat' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

/** Everything below this process that runs a bundled file of a sandbox. */
function sandboxProcesses(): number[] {
  return descendants(process.pid).filter((pid) => SANDBOX.test(textOf(pid, 'cmdline')));
}

/** Whether one process still runs. The check is cheap, so that it does not delay the end of the process. */
function isRunning(pid: number): boolean {
  return /\) [^ZX][^)]*$/.test(textOf(pid, 'stat'));
}

/** Milliseconds from now until none of the processes is left. */
async function untilGone(pids: readonly number[]): Promise<number> {
  const startedAt = performance.now();
  while (pids.some(isRunning)) await delay(2);
  return performance.now() - startedAt;
}

interface BegunRun {
  /** Resolves when the model was asked, or its code was handed to its sandbox. */
  underWay: Promise<void>;
  outcome: Promise<RunOutcome>;
}

/** Begins a run whose model never answers, or wants code to be run that loops for ever. The signal stops it. */
async function beginRun(does: 'think' | 'loop', signal: AbortSignal): Promise<BegunRun> {
  const sandbox = await driver.start({ entry: 'runner' });
  const evaluator = does === 'loop' ? await driver.start({ entry: 'evaluator' }) : undefined;
  let started = (): void => {};
  const underWay = new Promise<void>((resolve) => (started = resolve));
  const callCode: ModelCompleteResult = {
    content: null,
    toolCalls: [{ id: '1', name: 'run_javascript', arguments: JSON.stringify({ code: 'for (;;);' }) }],
    finishReason: 'tool_calls',
  };
  const outcome = driveRun({
    sandbox,
    signal,
    run: {
      runId: 'run-1',
      task: 'a task',
      tools: [{ name: 'run_javascript', scope: 'input_only' }],
      outputSchema: { type: 'string' },
      maxSteps: 4,
    },
    completeModel() {
      if (does === 'loop') return Promise.resolve(callCode);
      started();
      return new Promise(() => {});
    },
    evaluate({ code }, over) {
      if (evaluator === undefined) throw new Error('this run has no code');
      started();
      const pool = { take: () => Promise.resolve(evaluator) };
      return evaluateInSandbox(pool, { code, task: 'a task' }, { timeoutMs: 60_000, signal: over });
    },
    checkOutput: () => ({ valid: true, errors: [] }),
  });
  return { underWay, outcome };
}

const ABORTED = { status: 'failed', failure: { cause: 'aborted' } };

describe.each(LOCAL_DRIVERS.filter(({ runs }) => runs))('the processes of a run, $name', ({ create }) => {
  beforeEach(async () => {
    driver = await create({ stateDir });
  });

  /** The present ones: at least one of each sandbox. */
  function processesOf(sandboxes: number): number[] {
    const pids = sandboxProcesses();
    expect(pids.length).toBeGreaterThanOrEqual(sandboxes);
    return pids;
  }

  test.each([
    ['abort, while its model thinks', 'think', 1, undefined],
    ['abort, while the code of its model loops', 'loop', 2, undefined],
    ['timeout', 'loop', 2, new DOMException('The time is up.', 'TimeoutError')],
  ] as const)('are gone within 500 ms of its %s', async (_what, does, sandboxes, reason) => {
    const controller = new AbortController();
    const { underWay, outcome } = await beginRun(does, controller.signal);
    await underWay;
    const pids = processesOf(sandboxes);
    controller.abort(reason);
    expect(await untilGone(pids)).toBeLessThan(GONE_MS);
    expect(sandboxProcesses()).toEqual([]);
    expect(await outcome).toMatchObject(ABORTED);
  });

  test('are all gone after an abort of twenty runs at once', async () => {
    const controller = new AbortController();
    const runs = await Promise.all(Array.from({ length: 20 }, () => beginRun('think', controller.signal)));
    await Promise.all(runs.map(({ underWay }) => underWay));
    const pids = processesOf(20);
    controller.abort();
    // Untimed: the time of twenty ends depends on the load of the machine.
    await untilGone(pids);
    expect(sandboxProcesses()).toEqual([]);
    for (const { outcome } of runs) expect(await outcome).toMatchObject(ABORTED);
  });
});
