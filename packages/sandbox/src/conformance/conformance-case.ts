import assert from 'node:assert/strict';
import type { Evaluation, JsonValue } from '@agent-rental/agent-runner';
import { evaluateInSandbox } from '../protocol/evaluate-in-sandbox.js';
import type { SandboxDriver, SandboxLimits } from '../sandbox.js';
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

/** The value of code that must succeed. */
export async function valueOf(driver: SandboxDriver, code: string): Promise<JsonValue> {
  const evaluation = await evaluate(driver, code);
  assert.ok('value' in evaluation, `the code failed: ${JSON.stringify(evaluation)}`);
  return evaluation.value;
}

/**
 * Code that makes each attempt (JavaScript expressions by name) and returns the names of the ones that did not throw.
 */
export function attempts(expressions: Readonly<Record<string, string>>): string {
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
