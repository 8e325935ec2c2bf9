import type { EvaluateMessage, Evaluation, JsonValue } from '@agent-rental/agent-runner';
import { evaluateInSandbox } from '../../protocol/evaluate-in-sandbox.js';
import {
  type Sandbox,
  type SandboxGuarantees,
  type SandboxLimits,
  SandboxProbeError,
  type StartOptions,
} from '../../sandbox.js';

const PROBE_TIMEOUT_MS = 15_000;

/** Names every permission that Deno grants on request. */
const GRANTED_PERMISSIONS = `
  const names = ['read', 'write', 'net', 'env', 'run', 'ffi', 'sys', 'import'];
  const states = await Promise.all(names.map((name) => Deno.permissions.request({ name })));
  return names.filter((_, at) => states[at].state === 'granted');`;

/** Names the interfaces to the machine that code finds. */
const REACHES_THE_MACHINE = `
  const found = ['Worker', 'fetch', 'navigator', 'localStorage', 'caches'].filter((name) => name in globalThis);
  if ('permissions' in Deno || Deno[Deno.internal] !== undefined) found.push('Deno');
  for (const name of ['node:fs', 'node:module', 'node:inspector']) await import(name).then(() => found.push(name), () => {});
  return found;`;

/** Small enough to be quick; large enough for Deno to start. */
const MEMORY_PROBE_MB = 128;
const HOLD_TWICE_THE_MEMORY = `
  const held = [];
  for (let mb = 0; mb < ${MEMORY_PROBE_MB * 2}; mb += 1) held.push(new Uint8Array(1 << 20).fill(1));
  return held.length;`;

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

/**
 * Tries a Deno driver's walls on this machine.
 * @throws SandboxProbeError naming the step that failed.
 */
export async function probeDeno(driver: {
  start(options: StartOptions): Promise<Sandbox>;
  /** Starts a sandbox whose code finds all of the runtime's interfaces. */
  startWithPermissionsAlone(options: StartOptions): Promise<Sandbox>;
  guarantees: SandboxGuarantees;
}): Promise<void> {
  const { start, startWithPermissionsAlone, guarantees } = driver;

  function evaluate(code: string, limits: Partial<SandboxLimits> = {}, begin = start): Promise<Evaluation> {
    const pool = { take: () => begin({ entry: 'evaluator', limits }) };
    const request: Omit<EvaluateMessage, 'type' | 'protocol'> = { code, task: 'probe' };
    return evaluateInSandbox(pool, request, { timeoutMs: PROBE_TIMEOUT_MS });
  }

  async function valueOf(code: string, begin = start): Promise<JsonValue> {
    const evaluation = await evaluate(code, {}, begin);
    if ('error' in evaluation) throw new Error(evaluation.error);
    return evaluation.value;
  }

  await probeStep('start the runner', async () => {
    const runner = await start({ entry: 'runner' });
    await runner.kill();
  });
  await probeStep('start the evaluator and run code', async () => {
    const value = await valueOf('return 6 * 7;');
    if (value !== 42) throw new Error(`6 * 7 gave ${JSON.stringify(value)}`);
  });
  await probeStep('deny every permission', async () => {
    const granted = await valueOf(GRANTED_PERMISSIONS, startWithPermissionsAlone);
    if (!Array.isArray(granted) || granted.length > 0) throw new Error(`granted: ${JSON.stringify(granted)}`);
  });
  await probeStep('leave code nothing that reaches the machine', async () => {
    const found = await valueOf(REACHES_THE_MACHINE);
    if (!Array.isArray(found) || found.length > 0) throw new Error(`it finds: ${JSON.stringify(found)}`);
  });
  if (guarantees.memoryBounded) {
    await probeStep('bound the memory', async () => {
      const evaluation = await evaluate(HOLD_TWICE_THE_MEMORY, { memoryMb: MEMORY_PROBE_MB });
      if ('value' in evaluation)
        throw new Error(`${MEMORY_PROBE_MB * 2} MB fitted into ${MEMORY_PROBE_MB} MB`);
    });
  }
}
