import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { evaluatorPath, runnerPath, type SandboxEntry } from '@agent-rental/agent-runner';
import { awaitReady } from './await-ready.js';
import { superviseChild } from './child-sandbox.js';
import { locateDenoBinary } from './deno-binary.js';
import { probeDeno } from './deno-probe.js';
import { launcherPrefix, type LinuxLauncher, locateLinuxLauncher } from './linux-launcher.js';
import { openLedger } from './orphan-ledger.js';
import {
  defaultLimits,
  type Sandbox,
  type SandboxDriver,
  type SandboxGuarantees,
  type SandboxLimits,
  SandboxStartError,
  type StartOptions,
} from './sandbox.js';

/** No permission is granted, nothing is asked for, nothing is read beside the one file, nothing is fetched. */
const DENO_FLAGS = [
  'run',
  '--no-prompt',
  '--no-config',
  '--deny-import',
  '--no-remote',
  '--no-npm',
  '--cached-only',
  '--no-lock',
  '--no-code-cache',
];

const entryPaths: Readonly<Record<SandboxEntry, () => string>> = {
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
 * With its compiler on, V8 reserves 512 MiB of address space that count against RLIMIT_DATA: no useful limit fits, so
 * where that limit is set, the compiler is off. Objects get half of the memory: V8 that reaches its own bound gives up
 * within seconds, while V8 that is refused memory by the kernel can collect garbage for ever.
 */
function v8Flags({ prlimit }: LinuxLauncher, { memoryMb }: SandboxLimits): string {
  return prlimit === undefined
    ? `--max-heap-size=${memoryMb}`
    : `--jitless,--max-heap-size=${Math.floor(memoryMb / 2)}`;
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
  if (launcher.setpriv !== undefined && !isMainThread) {
    // The parent death signal is tied to the thread that starts the process, not to the process.
    throw new SandboxStartError('sandboxes must be started from the main thread');
  }
  const ledger = await openLedger(options.stateDir);
  // Deno wants a cache folder and would otherwise use the user's own. Below a file there can be none.
  const noFolder = join(ledger.folder, 'no-cache');
  writeFileSync(noFolder, '', { mode: 0o600 });
  const running = new Set<Sandbox>();
  let closed = false;

  function spawnSandbox(entry: SandboxEntry, limits: SandboxLimits): Sandbox {
    const nonce = ledger.newNonce();
    const command = [
      ...launcherPrefix(launcher, limits),
      binary,
      ...DENO_FLAGS,
      `--v8-flags=${v8Flags(launcher, limits)}`,
      entryPaths[entry](),
      nonce,
    ];
    const [file = binary, ...args] = command;
    const child = spawn(file, args, {
      // A path says whose machine this is.
      cwd: parse(binary).root,
      env: { DENO_DIR: join(noFolder, 'deno') },
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const sandbox = superviseChild(child, limits);
    running.add(sandbox);
    void forgetWhenEnded(sandbox, nonce);
    if (child.pid !== undefined) ledger.record(nonce, child.pid);
    return sandbox;
  }

  async function forgetWhenEnded(sandbox: Sandbox, nonce: string): Promise<void> {
    await sandbox.exited;
    running.delete(sandbox);
    ledger.forget(nonce);
  }

  async function start({ entry, limits: given }: StartOptions): Promise<Sandbox> {
    if (closed) throw new SandboxStartError('the driver is closed');
    const limits = { ...defaultLimits[entry], ...given };
    const sandbox = spawnSandbox(entry, limits);
    await awaitReady(sandbox, { entry, timeoutMs: limits.startTimeoutMs });
    return sandbox;
  }

  const guarantees: SandboxGuarantees = {
    memoryBounded: launcher.prlimit !== undefined,
    endsWithHost: launcher.setpriv !== undefined,
  };

  return {
    name: 'deno',
    isolation: 'runtime',
    guarantees,
    start,
    probe: () => probeDeno(start, guarantees),
    async close() {
      closed = true;
      await Promise.all([...running].map((sandbox) => sandbox.kill()));
    },
  };
}
