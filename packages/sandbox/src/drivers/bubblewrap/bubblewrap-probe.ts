import { evaluateInSandbox } from '../../protocol/evaluate-in-sandbox.js';
import { probeDeno, probeStep } from '../deno/deno-probe.js';
import type { Sandbox, SandboxCapabilities, SandboxGuarantees, StartOptions } from '../../sandbox.js';

const PROBE_TIMEOUT_MS = 15_000;

/** Runs with Deno's permissions open, so that only the kernel can refuse. Returns the attempts that succeeded. */
const TRY_THE_KERNELS_WALL = `
  const attempts = {
    'listen on the network': () => Deno.listen({ port: 0 }).close(),
    'connect to the network': async () => (await Deno.connect({ hostname: '127.0.0.1', port: 9 })).close(),
    'start a process': () => new Deno.Command('/deno', { args: ['--version'] }).outputSync(),
    'write a file': () => Deno.writeTextFileSync('/app/written', 'x'),
    'write to the root': () => Deno.writeTextFileSync('/written', 'x'),
    'write to /proc': () => Deno.writeTextFileSync('/proc/sys/kernel/core_pattern', 'x'),
    'see files of the host': () => {
      const names = ['/etc', '/home', '/root', '/tmp', '/var', '/sys', '/dev'].filter((path) => {
        try { Deno.statSync(path); return true; } catch { return false; }
      });
      if (names.length === 0) throw new Error('none');
    },
    'see processes of the host': () => {
      const ids = [...Deno.readDirSync('/proc')].filter(({ name }) => /^[0-9]+$/.test(name));
      if (ids.length <= 2) throw new Error('only its own');
    },
  };
  const done = [];
  for (const [name, attempt] of Object.entries(attempts)) {
    try { await attempt(); done.push(name); } catch {}
  }
  return done;`;

/**
 * Tries a hardened driver's walls on this machine: Deno's, then the kernel's without Deno's, then Python.
 * @throws SandboxProbeError naming the step that failed.
 */
export async function probeBubblewrap(driver: {
  start(options: StartOptions): Promise<Sandbox>;
  /** Starts a sandbox whose code finds all of the runtime's interfaces. */
  startWithPermissionsAlone(options: StartOptions): Promise<Sandbox>;
  /** Starts a sandbox whose runtime allows everything. */
  startOpen(options: StartOptions): Promise<Sandbox>;
  guarantees: SandboxGuarantees;
  capabilities: SandboxCapabilities;
}): Promise<void> {
  await probeDeno(driver);
  await probeStep('keep the wall of the kernel', async () => {
    const pool = { take: () => driver.startOpen({ entry: 'evaluator' }) };
    const request = { code: TRY_THE_KERNELS_WALL, task: 'probe' };
    const evaluation = await evaluateInSandbox(pool, request, { timeoutMs: PROBE_TIMEOUT_MS });
    if ('error' in evaluation) throw new Error(evaluation.error);
    const { value } = evaluation;
    if (!Array.isArray(value) || value.length > 0)
      throw new Error(`the code could: ${JSON.stringify(value)}`);
  });
  if (driver.capabilities.python) {
    await probeStep('run Python', async () => {
      const pool = { take: () => driver.start({ entry: 'evaluator', language: 'python' }) };
      const request = { code: 'return 6 * 7', task: 'probe' };
      const evaluation = await evaluateInSandbox(pool, request, { timeoutMs: PROBE_TIMEOUT_MS });
      if (!('value' in evaluation) || evaluation.value !== 42) {
        throw new Error(`6 * 7 gave ${JSON.stringify(evaluation)}`);
      }
    });
  }
}
