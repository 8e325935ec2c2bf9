import type { Evaluation, JsonValue } from '@agent-rental/agent-runner';
import { evaluateInSandbox } from '../protocol/evaluate-in-sandbox.js';
import { type Sandbox, SandboxProbeError, type StartOptions } from '../sandbox.js';

/** Does one step of a probe. @throws SandboxProbeError with the name of the step. */
export async function probeStep<T>(name: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw new SandboxProbeError(name, error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
}

export function evaluateForProbe(
  start: (options: StartOptions) => Promise<Sandbox>,
  code: string,
  { timeoutMs = 15_000, ...options }: Omit<StartOptions, 'entry'> & { timeoutMs?: number } = {},
): Promise<Evaluation> {
  const pool = { take: () => start({ entry: 'evaluator', ...options }) };
  return evaluateInSandbox(pool, { code, task: 'probe' }, { timeoutMs });
}

/** The value of a probe's code. @throws Error with the text of a failure. */
export async function probeValue(...args: Parameters<typeof evaluateForProbe>): Promise<JsonValue> {
  const evaluation = await evaluateForProbe(...args);
  if ('error' in evaluation) throw new Error(evaluation.error);
  return evaluation.value;
}

/** Refuses every name in a list of successes. */
export function requireNone(value: JsonValue, what: string): void {
  if (!Array.isArray(value) || value.length > 0) throw new Error(`${what}: ${JSON.stringify(value)}`);
}

export function requireAnswer(value: JsonValue): void {
  if (value !== 42) throw new Error(`6 * 7 gave ${JSON.stringify(value)}`);
}

export async function probeRunner(start: (options: StartOptions) => Promise<Sandbox>): Promise<void> {
  await probeStep('start the runner', async () => (await start({ entry: 'runner' })).kill());
}
