import { writeFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { locateDenoBinary } from './deno-binary.js';
import { DENO_ENVIRONMENT, denoArguments, mainModule, type RuntimeWall } from './deno-command.js';
import { probeDeno } from './deno-probe.js';
import {
  launcherPrefix,
  type LinuxLauncher,
  locateLinuxLauncher,
  locateTool,
  mostThreads,
} from '../process/linux-launcher.js';
import { openLocalSpawner } from '../process/spawner/local-spawner.js';
import { openLedger } from '../process/orphan-ledger.js';
import { createProcessStarter, type LocalOptions, type ProcessStarter } from '../process/process-starter.js';
import { openSpawnerProcess } from '../process/spawner/spawner-process.js';
import { type SandboxDriver, type SandboxGuarantees, SandboxStartError } from '../../sandbox.js';

export interface DenoDriverOptions extends LocalOptions {
  /** Replaces the programs of this machine (tests of machines without util-linux). */
  launcher?: LinuxLauncher;
  /** Replaces the npm package's executable. */
  denoBinary?: string;
  /** `permissions` for tests of Deno's permissions alone. */
  runtimeWall?: Exclude<RuntimeWall, 'open'>;
}

/**
 * Sandboxes as Deno processes with every permission denied: no network, files, environment, subprocesses or native code. A
 * model's code finds no interfaces to these. On Linux prlimit also sets hard limits for memory, processor time and files, and
 * setpriv ends a sandbox with this process. `guarantees` lists the properties that this machine has.
 * @throws SandboxStartError when Deno is not installed.
 */
export async function createDenoDriver(options: DenoDriverOptions): Promise<SandboxDriver> {
  const binary = options.denoBinary ?? locateDenoBinary();
  const launcher = options.launcher ?? locateLinuxLauncher();
  const ledger = await openLedger(options.stateDir);
  // Deno wants a cache folder and would otherwise use the user's. A file in its place allows none.
  const noFolder = join(ledger.folder, 'no-cache');
  writeFileSync(noFolder, '', { mode: 0o600 });

  const mkfifo = process.platform === 'linux' ? locateTool('mkfifo') : undefined;
  const spawner =
    mkfifo !== undefined && launcher.setpriv !== undefined
      ? openSpawnerProcess(ledger.folder, mkfifo)
      : openLocalSpawner();

  function starterWith(runtimeWall: RuntimeWall): ProcessStarter {
    return createProcessStarter({
      ledger,
      spawner,
      endMethod: 'process',
      plan({ entry, language = 'javascript' }, limits, nonce) {
        if (language !== 'javascript')
          throw new SandboxStartError(`the Deno driver does not run ${language}`);
        const dataLimited = launcher.prlimit !== undefined;
        const main = mainModule(entry, runtimeWall);
        const [file, ...args] = [
          ...launcherPrefix(launcher, limits),
          binary,
          ...denoArguments(main, entry, limits, { dataLimited, runtimeWall }),
          nonce,
        ];
        const cgroup = options.cgroups?.open(nonce, limits, mostThreads());
        return {
          file: file ?? binary,
          args,
          env: { DENO_DIR: join(noFolder, 'deno'), ...DENO_ENVIRONMENT },
          cwd: parse(binary).root,
          ...(cgroup === undefined ? {} : { cgroup }),
        };
      },
    });
  }

  const starter = starterWith(options.runtimeWall ?? 'closed');
  const permissionsAlone = starterWith('permissions');
  const guarantees: SandboxGuarantees = {
    memoryBounded: launcher.prlimit !== undefined || options.cgroups !== undefined,
    // Limits of processes count all of a user's processes together.
    threadsBounded: options.cgroups !== undefined,
    memoryBound:
      options.cgroups !== undefined ? 'cgroup' : launcher.prlimit !== undefined ? 'rlimit' : 'none',
    threadsBound: options.cgroups === undefined ? 'none' : 'cgroup',
    endsWithHost: launcher.setpriv !== undefined,
  };

  return {
    name: 'deno',
    isolation: 'runtime',
    guarantees,
    capabilities: { python: false },
    start: starter.start,
    probe: () => probeDeno({ ...starter, startWithPermissionsAlone: permissionsAlone.start, guarantees }),
    async close() {
      await Promise.all([starter.close(), permissionsAlone.close()]);
      await spawner.close();
    },
  };
}
