import { writeFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { evaluatorPath, runnerPath, type SandboxEntry } from '@agent-rental/agent-runner';
import { locateDenoBinary } from './deno-binary.js';
import { denoArguments } from './deno-command.js';
import { probeDeno } from './deno-probe.js';
import { launcherPrefix, type LinuxLauncher, locateLinuxLauncher } from './linux-launcher.js';
import { openLedger } from './orphan-ledger.js';
import { createProcessStarter } from './process-starter.js';
import { type SandboxDriver, type SandboxGuarantees, SandboxStartError } from './sandbox.js';

/** The bundled file that each kind of sandbox runs. */
export const entryPaths: Readonly<Record<SandboxEntry, () => string>> = {
  runner: runnerPath,
  evaluator: evaluatorPath,
};

export interface DenoDriverOptions {
  /** Folder for the ledger of running sandboxes; created when missing. */
  stateDir: string;
  /** Replaces what is found on this machine (tests of machines without util-linux). */
  launcher?: LinuxLauncher;
  /** Replaces the npm package's executable. */
  denoBinary?: string;
}

/**
 * Sandboxes as Deno processes with every permission denied: no network, files, environment, subprocesses or
 * native code. On Linux also with hard limits for memory, processor time and files (through prlimit), and tied to
 * the life of this process (through setpriv). `guarantees` says what of that this machine has.
 * @throws SandboxStartError when Deno is not installed.
 */
export async function createDenoDriver(options: DenoDriverOptions): Promise<SandboxDriver> {
  const binary = options.denoBinary ?? locateDenoBinary();
  const launcher = options.launcher ?? locateLinuxLauncher();
  const ledger = await openLedger(options.stateDir);
  // Deno wants a cache folder and would otherwise use the user's own. Below a file there can be none.
  const noFolder = join(ledger.folder, 'no-cache');
  writeFileSync(noFolder, '', { mode: 0o600 });

  const starter = createProcessStarter({
    ledger,
    diesWithThread: launcher.setpriv !== undefined,
    plan({ entry, language = 'javascript' }, limits, nonce) {
      if (language !== 'javascript') throw new SandboxStartError(`the Deno driver does not run ${language}`);
      const [file, ...args] = [
        ...launcherPrefix(launcher, limits),
        binary,
        ...denoArguments(entryPaths[entry](), limits, { dataLimited: launcher.prlimit !== undefined }),
        nonce,
      ];
      return {
        file: file ?? binary,
        args,
        env: { DENO_DIR: join(noFolder, 'deno') },
        cwd: parse(binary).root,
      };
    },
  });

  const guarantees: SandboxGuarantees = {
    memoryBounded: launcher.prlimit !== undefined,
    // Limits of processes count all of a user's processes together.
    threadsBounded: false,
    endsWithHost: launcher.setpriv !== undefined,
  };

  return {
    name: 'deno',
    isolation: 'runtime',
    guarantees,
    capabilities: { python: false },
    start: starter.start,
    probe: () => probeDeno(starter.start, guarantees),
    close: starter.close,
  };
}
