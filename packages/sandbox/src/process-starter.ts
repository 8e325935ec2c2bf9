import { type ChildProcessWithoutNullStreams, spawn, type StdioOptions } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { awaitReady } from './await-ready.js';
import { type EndChild, superviseChild } from './child-sandbox.js';
import { inheritedDescriptors } from './inherited-descriptors.js';
import type { OrphanLedger } from './orphan-ledger.js';
import {
  defaultLimits,
  type Sandbox,
  type SandboxLimits,
  SandboxStartError,
  type StartOptions,
} from './sandbox.js';

/** How to start the process of a sandbox. */
export interface Launch {
  file: string;
  args: readonly string[];
  /** All of its environment. */
  env: Readonly<Record<string, string>>;
  /** A path says whose machine this is, so this is none that does. */
  cwd: string;
  /** Who it is to be, where this process may choose. */
  user?: { uid: number; gid: number };
  /** What it reads from file descriptor 3. */
  descriptor3?: Uint8Array;
}

export interface ProcessStarterOptions {
  ledger: OrphanLedger;
  /** The nonce has to be one of the arguments of the process. @throws SandboxStartError */
  plan(options: StartOptions, limits: SandboxLimits, nonce: string): Launch;
  endChild?: EndChild;
  /** Whether a sandbox dies with the thread that started it. */
  diesWithThread: boolean;
}

/** What drivers whose sandboxes are processes of this machine have in common. */
export interface ProcessStarter {
  /** @throws SandboxStartError */
  start(options: StartOptions): Promise<Sandbox>;
  close(): Promise<void>;
}

/** Starts sandboxes as child processes, writes them down in the ledger, and ends those that are left. */
export function createProcessStarter(options: ProcessStarterOptions): ProcessStarter {
  const { ledger, plan, endChild } = options;
  if (options.diesWithThread && !isMainThread) {
    // The parent death signal is tied to the thread that starts the process, not to the process.
    throw new SandboxStartError('sandboxes must be started from the main thread');
  }
  const inherited = inheritedDescriptors();
  const nothing = openSync(devNull, 'r');
  const running = new Set<Sandbox>();
  let closed = false;

  function spawnSandbox(start: StartOptions, limits: SandboxLimits): Sandbox {
    const nonce = ledger.newNonce();
    const { file, args, env, cwd, user, descriptor3 } = plan(start, limits, nonce);
    const child = spawn(file, args, {
      cwd,
      env,
      ...user,
      stdio: stdioOf(descriptor3 !== undefined),
      windowsHide: true,
    }) as ChildProcessWithoutNullStreams;
    const sandbox = superviseChild(child, limits, endChild);
    running.add(sandbox);
    void forgetWhenEnded(sandbox, nonce);
    if (child.pid !== undefined) ledger.record(nonce, child.pid);
    if (descriptor3 !== undefined) give(child, descriptor3);
    return sandbox;
  }

  /** What is handed to a child: its pipes, and nothing in the place of what it would inherit. */
  function stdioOf(withDescriptor3: boolean): StdioOptions {
    const stdio: ('pipe' | 'ignore' | number)[] = ['pipe', 'pipe', 'pipe'];
    for (const descriptor of inherited) {
      while (stdio.length < descriptor) stdio.push('ignore');
      stdio[descriptor] = nothing;
    }
    if (withDescriptor3) stdio[3] = 'pipe';
    return stdio;
  }

  async function forgetWhenEnded(sandbox: Sandbox, nonce: string): Promise<void> {
    await sandbox.exited;
    running.delete(sandbox);
    ledger.forget(nonce);
  }

  return {
    async start(start) {
      if (closed) throw new SandboxStartError('the driver is closed');
      const { entry } = start;
      const limits = { ...defaultLimits[entry], ...start.limits };
      const sandbox = spawnSandbox(start, limits);
      await awaitReady(sandbox, { entry, timeoutMs: limits.startTimeoutMs });
      return sandbox;
    },
    async close() {
      if (closed) return;
      closed = true;
      await Promise.all([...running].map((sandbox) => sandbox.kill()));
      closeSync(nothing);
    },
  };
}

/** Writes to the child's file descriptor 3 and closes it. */
function give(child: ChildProcessWithoutNullStreams, bytes: Uint8Array): void {
  const stream = (child.stdio as unknown as (NodeJS.WritableStream | null | undefined)[])[3];
  // A child that ends before it has read breaks the pipe; `exited` tells the story.
  stream?.on('error', () => {});
  stream?.end(bytes);
}
