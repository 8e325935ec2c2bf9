import { locateDenoBinary } from './deno-binary.js';
import { denoArguments, type RuntimeWall } from './deno-command.js';
import { entryPaths } from './deno-driver.js';
import { type Wall, type WalledProgram, walledLaunch } from './bubblewrap-command.js';
import { probeBubblewrap } from './bubblewrap-probe.js';
import { findWall, tryWall } from './bubblewrap-wall.js';
import { endBubblewrap } from './end-bubblewrap.js';
import { openLedger } from './orphan-ledger.js';
import { createProcessStarter, type ProcessStarter } from './process-starter.js';
import { locatePython, pythonEvaluatorPath, type PythonRuntime } from './python-runtime.js';
import {
  type SandboxDriver,
  type SandboxGuarantees,
  type SandboxLimits,
  SandboxProbeError,
  SandboxStartError,
  type StartOptions,
} from './sandbox.js';
import { sharedLibraries } from './shared-libraries.js';

const DENO = '/deno';
const SCRIPT = '/app/runner.mjs';
const PYTHON_SCRIPT = '/app/evaluator.py';
/** Deno wants a cache folder; there is none, and nowhere to make one. */
const DENO_ENVIRONMENT = { DENO_DIR: '/none' };

export interface BubblewrapDriverOptions {
  /** Folder for the ledger of running sandboxes; created when missing. */
  stateDir: string;
  /** Replaces the executable that is found on this machine. */
  bwrap?: string;
  /** `open` for tests of the kernel's wall by itself: Deno then allows its code everything. */
  runtimeWall?: RuntimeWall;
}

/**
 * Sandboxes as Deno processes with every permission denied, each behind a wall of the kernel's: bubblewrap's
 * namespaces, a filter of system calls, and hard limits of memory, processor time, files and threads. Also runs
 * Python, where the system has it: behind the same wall, which is then the only one.
 * @throws SandboxProbeError when this machine lacks something or forbids it; SandboxStartError when Deno is missing.
 */
export async function createBubblewrapDriver(options: BubblewrapDriverOptions): Promise<SandboxDriver> {
  const binary = locateDenoBinary();
  const found = await findWall(options.bwrap);
  const libraries = await sharedLibraries([binary]);
  const denoFiles = (script: string): Map<string, string> =>
    new Map([[DENO, binary], [SCRIPT, script], ...libraries.map((path) => [path, path] as const)]);
  const { wall, notice } = await tryWall(found, {
    files: denoFiles(entryPaths.runner()),
    env: DENO_ENVIRONMENT,
    command: [DENO, '--version'],
  });
  const python = await usablePython(wall);
  const ledger = await openLedger(options.stateDir);

  function denoProgram(
    { entry }: StartOptions,
    limits: SandboxLimits,
    nonce: string,
    runtimeWall: RuntimeWall,
  ): WalledProgram {
    return {
      files: denoFiles(entryPaths[entry]()),
      env: DENO_ENVIRONMENT,
      command: [DENO, ...denoArguments(SCRIPT, limits, { dataLimited: true, runtimeWall }), nonce],
    };
  }

  function starterWith(runtimeWall: RuntimeWall): ProcessStarter {
    return createProcessStarter({
      ledger,
      diesWithThread: true,
      endChild: endBubblewrap,
      plan(start, limits, nonce) {
        const { entry, language = 'javascript' } = start;
        if (language === 'javascript') {
          return walledLaunch(wall, denoProgram(start, limits, nonce, runtimeWall), limits);
        }
        if (typeof python === 'string' || entry !== 'evaluator') {
          throw new SandboxStartError(`Python is run by no ${entry} here`);
        }
        return walledLaunch(wall, pythonProgram(python, [PYTHON_SCRIPT, nonce]), limits);
      },
    });
  }

  const starter = starterWith(options.runtimeWall ?? 'closed');
  const openStarter = starterWith('open');
  const guarantees: SandboxGuarantees = {
    memoryBounded: true,
    threadsBounded: wall.user !== undefined || process.getuid?.() !== 0,
    endsWithHost: true,
  };
  const capabilities = { python: typeof python !== 'string' };
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
      probeBubblewrap({ start: starter.start, startOpen: openStarter.start, guarantees, capabilities }),
    async close() {
      await Promise.all([starter.close(), openStarter.close()]);
    },
  };
}

function pythonProgram({ executable, flags, paths }: PythonRuntime, args: readonly string[]): WalledProgram {
  return {
    files: new Map([[PYTHON_SCRIPT, pythonEvaluatorPath()], ...paths.map((path) => [path, path] as const)]),
    env: {},
    command: [executable, ...flags, ...args],
  };
}

/** Python, if it starts behind the wall; else why not. */
async function usablePython(wall: Wall): Promise<PythonRuntime | string> {
  const python = await locatePython();
  if (typeof python === 'string') return python;
  try {
    await tryWall(wall, pythonProgram(python, ['-c', 'import ast, io, json, os, sys']));
    return python;
  } catch (error) {
    if (error instanceof SandboxProbeError) return error.message;
    throw error;
  }
}
