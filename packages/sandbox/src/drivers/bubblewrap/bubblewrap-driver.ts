import { locateDenoBinary } from '../deno/deno-binary.js';
import {
  DENO_ENVIRONMENT,
  denoArguments,
  entryPath,
  mainModule,
  type RuntimeWall,
} from '../deno/deno-command.js';
import { type Wall, type WalledProgram, walledLaunch } from './bubblewrap-command.js';
import { probeBubblewrap } from './bubblewrap-probe.js';
import { findWall, tryWall } from './bubblewrap-wall.js';
import { openLedger } from '../process/orphan-ledger.js';
import { createProcessStarter, type LocalOptions, type ProcessStarter } from '../process/process-starter.js';
import { openSpawnerProcess } from '../process/spawner/spawner-process.js';
import { locatePython, pythonEvaluatorPath, type PythonRuntime } from './python-runtime.js';
import {
  defaultLimits,
  type SandboxDriver,
  type SandboxGuarantees,
  type SandboxLimits,
  SandboxProbeError,
  SandboxStartError,
  type StartOptions,
} from '../../sandbox.js';
import { sharedLibraries } from './shared-libraries.js';

const DENO = '/deno';
const SCRIPT = '/app/runner.mjs';
const PYTHON_SCRIPT = '/app/evaluator.py';
/** Deno wants a cache folder. There is none, and no place for one. */
const WALLED_DENO_ENVIRONMENT = { DENO_DIR: '/none', ...DENO_ENVIRONMENT };
/** The only part of /proc that Deno needs: its own path. */
const DENO_LINKS = new Map([['/proc/self/exe', DENO]]);
/**
 * V8 reserves 50 GiB of addresses, which hold nothing. No memory limit counts read-only mappings, and each GiB of them takes
 * 2 MiB of page tables. This limit bounds the page tables.
 */
const DENO_ADDRESS_SPACE_MB = 64 * 1024;
/** The process that waits for the sandbox, and the one that becomes it. */
const PROCESSES_OF_BUBBLEWRAP = 2;
/** For Python's mappings beside its data: its libraries and the code of modules. */
const PYTHON_FILES_MB = 64;

export interface BubblewrapDriverOptions extends LocalOptions {
  /** Replaces the executable that is found on this machine. */
  bwrap?: string | undefined;
  /** Less than `closed` for tests of the kernel's wall alone. */
  runtimeWall?: RuntimeWall;
}

/**
 * Sandboxes as Deno processes with every permission denied, each behind the kernel's wall. This wall has bubblewrap's
 * namespaces, a filter of system calls, and hard limits of memory, processor time, files and threads. The driver also runs
 * Python, where the system has it. The kernel's wall is then the only one.
 * @throws SandboxProbeError when this machine lacks something or forbids it; SandboxStartError when Deno is missing.
 */
export async function createBubblewrapDriver(options: BubblewrapDriverOptions): Promise<SandboxDriver> {
  const binary = locateDenoBinary();
  const ledger = await openLedger(options.stateDir);
  const found = await findWall(ledger.folder, options.bwrap);
  const libraries = await sharedLibraries([binary]);
  const denoFiles = (script: string): Map<string, string> =>
    new Map([[DENO, binary], [SCRIPT, script], ...libraries.map((path) => [path, path] as const)]);
  const { wall, notice } = await tryWall(found, {
    files: denoFiles(entryPath('runner', 'closed')),
    links: DENO_LINKS,
    addressSpaceMb: DENO_ADDRESS_SPACE_MB,
    env: WALLED_DENO_ENVIRONMENT,
    command: [DENO, '--version'],
  });
  const python = await usablePython(wall);
  const spawner = openSpawnerProcess(ledger.folder, wall.mkfifo);

  function programFor(
    { entry, language = 'javascript' }: StartOptions,
    limits: SandboxLimits,
    nonce: string,
    runtimeWall: RuntimeWall,
  ): WalledProgram {
    if (language !== 'javascript') {
      if (typeof python === 'string' || entry !== 'evaluator') {
        throw new SandboxStartError(`Python is run by no ${entry} here`);
      }
      return pythonProgram(python, limits, [PYTHON_SCRIPT, nonce]);
    }
    const main = mainModule(entry, runtimeWall, SCRIPT);
    return {
      files: denoFiles(entryPath(entry, runtimeWall)),
      links: DENO_LINKS,
      addressSpaceMb: DENO_ADDRESS_SPACE_MB,
      env: WALLED_DENO_ENVIRONMENT,
      command: [DENO, ...denoArguments(main, entry, limits, { dataLimited: true, runtimeWall }), nonce],
    };
  }

  function starterWith(runtimeWall: RuntimeWall): ProcessStarter {
    return createProcessStarter({
      ledger,
      spawner,
      endMethod: 'namespace',
      plan(start, limits, nonce) {
        const program = programFor(start, limits, nonce, runtimeWall);
        const cgroup = options.cgroups?.open(nonce, limits, wall.maxThreads + PROCESSES_OF_BUBBLEWRAP);
        return {
          ...walledLaunch(wall, program, limits, ledger.innerPath(nonce)),
          ...(cgroup === undefined ? {} : { cgroup }),
        };
      },
    });
  }

  const starter = starterWith(options.runtimeWall ?? 'closed');
  const permissionsAlone = starterWith('permissions');
  const openStarter = starterWith('open');
  const threadsLimited = wall.user !== undefined || process.getuid?.() !== 0;
  const guarantees: SandboxGuarantees = {
    memoryBounded: true,
    threadsBounded: options.cgroups !== undefined || threadsLimited,
    memoryBound: options.cgroups === undefined ? 'rlimit' : 'cgroup',
    threadsBound: options.cgroups !== undefined ? 'cgroup' : threadsLimited ? 'rlimit' : 'none',
    endsWithHost: true,
  };
  const capabilities = {
    python: typeof python !== 'string',
    ...(options.runtimeWall === 'open' ? { nativeJavaScript: true } : {}),
  };
  return {
    name: 'bubblewrap',
    isolation: 'kernel',
    guarantees,
    capabilities,
    notices: [
      ...(notice === undefined ? [] : [notice]),
      ...(typeof python === 'string' ? [`Agents cannot run Python: ${python}.`] : []),
    ],
    start: starter.start,
    probe: () =>
      probeBubblewrap({
        start: starter.start,
        startWithPermissionsAlone: permissionsAlone.start,
        startOpen: openStarter.start,
        guarantees,
        capabilities,
      }),
    async close() {
      await Promise.all([starter, permissionsAlone, openStarter].map((each) => each.close()));
      await spawner.close();
    },
  };
}

function pythonProgram(
  { executable, flags, paths }: PythonRuntime,
  { memoryMb }: SandboxLimits,
  args: readonly string[],
): WalledProgram {
  return {
    files: new Map([[PYTHON_SCRIPT, pythonEvaluatorPath()], ...paths.map((path) => [path, path] as const)]),
    addressSpaceMb: memoryMb + PYTHON_FILES_MB,
    env: {},
    command: [executable, ...flags, ...args],
  };
}

/** Python, if it starts behind the wall; else why not. */
async function usablePython(wall: Wall): Promise<PythonRuntime | string> {
  const python = await locatePython();
  if (typeof python === 'string') return python;
  try {
    await tryWall(
      wall,
      pythonProgram(python, defaultLimits.evaluator, ['-c', 'import ast, io, json, os, sys']),
    );
    return python;
  } catch (error) {
    if (error instanceof SandboxProbeError) return error.message;
    throw error;
  }
}
