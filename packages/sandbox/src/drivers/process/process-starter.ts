import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';
import { awaitReady } from '../await-ready.js';
import { type EndChild, superviseChild } from './child-sandbox.js';
import type { SandboxCgroup } from './delegated-cgroup.js';
import { inheritedDescriptors } from './inherited-descriptors.js';
import { locateTool } from './linux-launcher.js';
import { yieldToOthers } from './low-priority.js';
import type { OrphanLedger } from './orphan-ledger.js';
import {
  defaultLimits,
  type Sandbox,
  type SandboxLimits,
  SandboxStartError,
  type StartOptions,
} from '../../sandbox.js';
import { type ChildPipes, openPipeStock, type PipeStock } from './stdio-pipes.js';

/** How to start the process of a sandbox. */
export interface Launch {
  file: string;
  args: readonly string[];
  /** The whole environment. */
  env: Readonly<Record<string, string>>;
  /** Visible to the process, so it must not tell anything of the host. */
  cwd: string;
  /** User and group of the process, where this process can change them. */
  user?: { uid: number; gid: number };
  /**
   * Files that it finds open, by its own descriptors from 3 on. This process opens them: they need not be open to the
   * user that the child is.
   */
  files?: readonly OpenedFile[];
  /** Its cgroup, where the host delegates cgroups to this process. The process enters it before it runs its program. */
  cgroup?: SandboxCgroup;
}

/** A file that a child finds open. */
interface OpenedFile {
  descriptor: number;
  path: string;
  /** `wx`: a new file, to be written; `w`: one that is there. */
  flags: 'r' | 'wx' | 'w';
}

/** Beside those of bubblewrap. */
const CGROUP_DESCRIPTOR = 5;
const ENTER_CGROUP = `echo 0 >&${CGROUP_DESCRIPTOR} && exec ${CGROUP_DESCRIPTOR}>&- && exec "$0" "$@"`;

/** A shell enters the cgroup and becomes the program: a process that is moved later has had time to do something. */
function enteringItsCgroup(launch: Launch): Launch {
  const { cgroup, file, args, files = [] } = launch;
  if (cgroup === undefined) return launch;
  return {
    ...launch,
    file: locateTool('sh') ?? '/bin/sh',
    args: ['-c', ENTER_CGROUP, file, ...args],
    files: [...files, { descriptor: CGROUP_DESCRIPTOR, path: cgroup.entrance, flags: 'w' }],
  };
}

interface ProcessStarterOptions {
  ledger: OrphanLedger;
  /** The nonce has to be one of the arguments of the process. @throws SandboxStartError */
  plan(options: StartOptions, limits: SandboxLimits, nonce: string): Launch;
  endChild?: EndChild;
  /** The tool that makes named pipes. Without it, stdio is what Node makes of it: pairs of sockets, on Unix. */
  mkfifo?: string | undefined;
  /** Whether a sandbox dies with the thread that started it. */
  diesWithThread: boolean;
}

/** Starts the sandboxes of a driver that runs them as processes of this machine. */
export interface ProcessStarter {
  /** @throws SandboxStartError */
  start(options: StartOptions): Promise<Sandbox>;
  close(): Promise<void>;
}

/** Starts sandboxes as child processes, writes them down in the ledger, and ends those that are left. */
export function createProcessStarter(options: ProcessStarterOptions): ProcessStarter {
  const { ledger, plan, endChild, mkfifo } = options;
  if (options.diesWithThread && !isMainThread) {
    // The parent death signal is tied to the thread that starts the process, not to the process.
    throw new SandboxStartError('sandboxes must be started from the main thread');
  }
  const inherited = inheritedDescriptors();
  const nothing = openSync(devNull, 'r');
  const pipes: PipeStock | undefined =
    mkfifo === undefined ? undefined : openPipeStock(ledger.folder, mkfifo);
  const running = new Set<Sandbox>();
  const pids = new WeakMap<Sandbox, number>();
  /** Resolves when the next process may be spawned. */
  let maySpawn: Promise<unknown> = Promise.resolve();
  let closed = false;

  /** At most one process is spawned in an iteration of the event loop: a spawn holds it for about 8 ms. */
  function ownIteration(): Promise<unknown> {
    const mine = maySpawn;
    maySpawn = mine.then(() => nextIteration());
    return mine;
  }

  function spawnSandbox(start: StartOptions, limits: SandboxLimits, stdio: ChildPipes | undefined): Sandbox {
    const nonce = ledger.newNonce();
    const launch = plan(start, limits, nonce);
    let child: ChildProcessWithoutNullStreams;
    try {
      child = spawnChild(enteringItsCgroup(launch), stdio);
    } catch (error) {
      launch.cgroup?.remove();
      throw error;
    }
    const sandbox = superviseChild(child, limits, endChild);
    running.add(sandbox);
    void forgetWhenEnded(sandbox, nonce, launch.cgroup);
    if (child.pid !== undefined) {
      ledger.record(nonce, child.pid, launch.cgroup?.folder);
      pids.set(sandbox, child.pid);
    }
    return sandbox;
  }

  function spawnChild(
    { file, args, env, cwd, user, files = [] }: Launch,
    stdio: ChildPipes | undefined,
  ): ChildProcessWithoutNullStreams {
    const opened: number[] = [];
    try {
      const descriptors: (number | 'pipe' | 'ignore')[] = [
        ...(stdio?.descriptors ?? (['pipe', 'pipe', 'pipe'] as const)),
      ];
      const give = (descriptor: number, given: number): void => {
        while (descriptors.length < descriptor) descriptors.push('ignore');
        descriptors[descriptor] = given;
      };
      // The child gets /dev/null for each descriptor that it would inherit.
      for (const descriptor of inherited) give(descriptor, nothing);
      for (const { descriptor, path, flags } of files) {
        opened.push(openSync(path, flags, 0o600));
        give(descriptor, opened.at(-1) ?? nothing);
      }
      const child = spawn(file, args, { cwd, env, ...user, stdio: descriptors, windowsHide: true });
      // Replaces the streams that Node creates for its own sockets.
      if (stdio !== undefined) {
        const { stdin, stdout, stderr } = stdio;
        Object.assign(child, { stdin, stdout, stderr });
      }
      return child as ChildProcessWithoutNullStreams;
    } catch (error) {
      stdio?.stdin.destroy();
      stdio?.stdout.destroy();
      stdio?.stderr.destroy();
      throw error;
    } finally {
      stdio?.release();
      for (const descriptor of opened) closeSync(descriptor);
    }
  }

  async function forgetWhenEnded(sandbox: Sandbox, nonce: string, cgroup?: SandboxCgroup): Promise<void> {
    await sandbox.exited;
    running.delete(sandbox);
    cgroup?.remove();
    ledger.forget(nonce);
  }

  return {
    async start(start) {
      if (closed) throw new SandboxStartError('the driver is closed');
      const { entry } = start;
      const limits = { ...defaultLimits[entry], ...start.limits };
      const stdio = await pipes?.take();
      await ownIteration();
      if (closed) {
        stdio?.discard();
        throw new SandboxStartError('the driver is closed');
      }
      const sandbox = spawnSandbox(start, limits, stdio);
      await awaitReady(sandbox, { entry, timeoutMs: limits.startTimeoutMs });
      const pid = pids.get(sandbox);
      return entry === 'evaluator' && pid !== undefined ? yieldToOthers(sandbox, pid) : sandbox;
    },
    async close() {
      if (closed) return;
      closed = true;
      await Promise.all([...running].map((sandbox) => sandbox.kill()));
      closeSync(nothing);
      pipes?.close();
    },
  };
}
