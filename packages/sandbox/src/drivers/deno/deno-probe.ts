import {
  evaluateForProbe,
  probeRunner,
  probeStep,
  probeValue,
  requireAnswer,
  requireNone,
} from '../probe.js';
import type { Sandbox, SandboxGuarantees, StartOptions } from '../../sandbox.js';

const GRANTED_PERMISSIONS = `
  const names = ['read', 'write', 'net', 'env', 'run', 'ffi', 'sys', 'import'];
  const states = await Promise.all(names.map((name) => Deno.permissions.request({ name })));
  return names.filter((_, at) => states[at].state === 'granted');`;

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
  await probeRunner(start);
  await probeStep('start the evaluator and run code', async () =>
    requireAnswer(await probeValue(start, 'return 6 * 7;')),
  );
  await probeStep('deny every permission', async () =>
    requireNone(await probeValue(startWithPermissionsAlone, GRANTED_PERMISSIONS), 'granted'),
  );
  await probeStep('leave code nothing that reaches the machine', async () =>
    requireNone(await probeValue(start, REACHES_THE_MACHINE), 'it finds'),
  );
  if (guarantees.memoryBounded) {
    await probeStep('bound the memory', async () => {
      const limits = { memoryMb: MEMORY_PROBE_MB };
      const evaluation = await evaluateForProbe(start, HOLD_TWICE_THE_MEMORY, { limits });
      if ('value' in evaluation)
        throw new Error(`${MEMORY_PROBE_MB * 2} MB fitted into ${MEMORY_PROBE_MB} MB`);
    });
  }
}
