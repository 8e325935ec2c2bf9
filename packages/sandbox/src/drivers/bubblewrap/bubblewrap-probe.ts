import { probeDeno } from '../deno/deno-probe.js';
import { probeStep, probeValue, requireAnswer, requireNone } from '../probe.js';
import type { Sandbox, SandboxCapabilities, SandboxGuarantees, StartOptions } from '../../sandbox.js';

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
  await probeStep('keep the wall of the kernel', async () =>
    requireNone(await probeValue(driver.startOpen, TRY_THE_KERNELS_WALL), 'the code could'),
  );
  if (!driver.capabilities.python) return;
  await probeStep('run Python', async () =>
    requireAnswer(await probeValue(driver.start, 'return 6 * 7', { language: 'python' })),
  );
}
