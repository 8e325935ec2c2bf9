import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BEGUN_LINE,
  type EvaluateMessage,
  type Evaluation,
  type JsonValue,
  PROTOCOL_VERSION,
} from '@agent-rental/agent-runner';
import { driveRun } from '../protocol/drive-run.js';
import { evaluateInSandbox } from '../protocol/evaluate-in-sandbox.js';
import type { DriveRunOptions, RunOutcome } from '../protocol/run-options.js';
import type { Sandbox, SandboxDriver, SandboxLimits } from '../sandbox.js';
import type { Threat } from './threats.js';

/** One behaviour that every driver has. Independent of any test framework. */
export interface ConformanceCase {
  name: string;
  threat: Threat;
  /** False where the driver announces that it does not promise this. Absent: always true. */
  appliesTo?(driver: SandboxDriver): boolean;
  /** True where only missing interfaces hold the code. Permissions alone do not hold it. */
  needsBareRealm?: true;
  /** Rejects when the driver fails the case. */
  check(driver: SandboxDriver): Promise<void>;
}

/** Long enough for a loaded machine. Only a hanging sandbox takes so long. */
const TIMEOUT_MS = 20_000;

/** Runs hostile code as a model's code, in a fresh evaluator. */
export function evaluate(
  driver: SandboxDriver,
  code: string,
  options: { limits?: Partial<SandboxLimits>; timeoutMs?: number } = {},
): Promise<Evaluation> {
  const { limits = {}, timeoutMs = TIMEOUT_MS } = options;
  const pool = { take: () => driver.start({ entry: 'evaluator', limits }) };
  return evaluateInSandbox(pool, { code, input: 'the input', task: 'the task' }, { timeoutMs });
}

/** Begins code in a fresh evaluator and leaves it running. A flood may end the sandbox before its first line is read. */
export async function startCode(
  driver: SandboxDriver,
  code: string,
  { input = 'x', limits = {} }: { input?: string; limits?: Partial<SandboxLimits> } = {},
): Promise<Sandbox> {
  const sandbox = await driver.start({ entry: 'evaluator', limits });
  const message: EvaluateMessage = { type: 'evaluate', protocol: PROTOCOL_VERSION, code, input, task: 'x' };
  sandbox.send(JSON.stringify(message));
  const first = await nextLine(sandbox);
  if (first !== undefined) assert.equal(first, BEGUN_LINE);
  return sandbox;
}

/** The next line of a sandbox; undefined at its end. */
export async function nextLine(sandbox: Sandbox): Promise<string | undefined> {
  return (await sandbox.lines[Symbol.asyncIterator]().next()).value;
}

/** Drives a run in a sandbox with a compromised runner. Its model and its code never answer. */
export function driveTakenOver(
  sandbox: Sandbox,
  changes: Partial<DriveRunOptions> = {},
): Promise<RunOutcome> {
  return driveRun({
    sandbox,
    run: { runId: 'run-1', task: 'a task', tools: [], outputSchema: { type: 'string' }, maxSteps: 2 },
    completeModel: () => new Promise(() => {}),
    evaluate: () => new Promise(() => {}),
    checkOutput: () => ({ valid: true, errors: [] }),
    ...changes,
  });
}

/** Makes files of the host (contents by name) that no sandbox may read. Gives their paths. */
export async function withCanaries(
  files: Readonly<Record<string, string>>,
  use: (paths: string[]) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'canary-'));
  try {
    const paths = Object.keys(files).map((name) => join(folder, name));
    await Promise.all(Object.values(files).map((text, at) => writeFile(paths[at] ?? '', text)));
    await use(paths);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Whether sandboxes are on this machine. Code may read a separate machine, which is deleted afterwards. */
export function ofThisMachine({ isolation }: SandboxDriver): boolean {
  return isolation !== 'microvm';
}

/** The kernel's bounds of processor time and memory; a separate machine may end its sandboxes by other means. */
export function hasLimits(driver: SandboxDriver): boolean {
  return driver.guarantees.memoryBounded && ofThisMachine(driver);
}

export async function valueOf(driver: SandboxDriver, code: string): Promise<JsonValue> {
  const evaluation = await evaluate(driver, code);
  assert.ok('value' in evaluation, `the code failed: ${JSON.stringify(evaluation)}`);
  return evaluation.value;
}

/** Fails with the names of the attempts (JavaScript expressions by name) that succeed. */
export async function assertAllFail(
  driver: SandboxDriver,
  expressions: Readonly<Record<string, string>>,
): Promise<void> {
  assert.deepEqual(await valueOf(driver, attempts(expressions)), []);
}

/**
 * Code that makes each attempt (JavaScript expressions by name) and returns the names of the ones that did not throw.
 */
function attempts(expressions: Readonly<Record<string, string>>): string {
  const tries = Object.entries(expressions).map(
    ([name, expression]) => `[${JSON.stringify(name)}, async () => (${expression})]`,
  );
  return `
    const within = (promise) => Promise.race([
      promise,
      new Promise((_, reject) => setTimeout(() => reject(new Error('no answer')), 3000)),
    ]);
    // An attempt that fails a second time, later, must not end the others.
    for (const type of ['error', 'unhandledrejection']) {
      globalThis.addEventListener?.(type, (event) => { event.preventDefault(); event.stopImmediatePropagation(); }, true);
    }
    const succeeded = [];
    for (const [name, attempt] of [${tries.join(',\n')}]) {
      try {
        await within(attempt());
        succeeded.push(name);
      } catch {}
    }
    return succeeded;`;
}
