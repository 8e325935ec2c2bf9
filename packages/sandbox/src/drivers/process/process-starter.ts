import { awaitReady } from '../await-ready.js';
import {
  defaultLimits,
  type Sandbox,
  type SandboxLimits,
  SandboxStartError,
  type StartOptions,
} from '../../sandbox.js';
import { superviseChild } from './child-sandbox.js';
import type { DelegatedCgroup, SandboxCgroup } from './delegated-cgroup.js';
import { locateTool } from './linux-launcher.js';
import { yieldToOthers } from './low-priority.js';
import type { OrphanLedger } from './orphan-ledger.js';
import type { ProcessRequest, SandboxProcess, SandboxSpawner } from './spawner/spawner.js';
import type { EndMethod } from './spawner/messages.js';

export interface Launch extends Omit<ProcessRequest, 'endMethod'> {
  /** Its cgroup, where the host delegates cgroups to this process. The process enters it before it runs its program. */
  cgroup?: SandboxCgroup;
}

/** Options of the drivers that start processes of this machine. */
export interface LocalOptions {
  /** Folder for the ledger of running sandboxes; created when missing. */
  stateDir: string;
  /** Bounds the sandboxes beside their own limits. */
  cgroups?: DelegatedCgroup | undefined;
}

/** Not one of the descriptors of bubblewrap. */
const CGROUP_DESCRIPTOR = 5;
const ENTER_CGROUP = `echo 0 >&${CGROUP_DESCRIPTOR} && exec ${CGROUP_DESCRIPTOR}>&- && exec "$0" "$@"`;

/** A shell enters the cgroup and becomes the program. A later move would leave the program time outside of the cgroup. */
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
  /** The nonce has to be an argument of the process. @throws SandboxStartError */
  plan(options: StartOptions, limits: SandboxLimits, nonce: string): Launch;
  /** Shared by the starters of a driver. The driver closes it after them. */
  spawner: SandboxSpawner;
  endMethod: EndMethod;
}

export interface ProcessStarter {
  /** @throws SandboxStartError */
  start(options: StartOptions): Promise<Sandbox>;
  close(): Promise<void>;
}

/** Starts sandboxes as child processes, records them in the ledger, and ends leftovers. */
export function createProcessStarter(options: ProcessStarterOptions): ProcessStarter {
  const { ledger, plan, spawner, endMethod } = options;
  const running = new Set<Sandbox>();
  const starting = new Set<Promise<unknown>>();
  let closed = false;

  async function spawn(
    start: StartOptions,
    limits: SandboxLimits,
  ): Promise<{ sandbox: Sandbox; pid: number }> {
    const nonce = ledger.newNonce();
    const launch = plan(start, limits, nonce);
    const { cgroup, ...request } = enteringItsCgroup(launch);
    let child: SandboxProcess;
    try {
      child = await spawner.spawn({ ...request, endMethod });
    } catch (error) {
      cgroup?.remove();
      ledger.forget(nonce);
      throw error;
    }
    const sandbox = superviseChild(child, limits);
    running.add(sandbox);
    void forgetWhenEnded(sandbox, nonce, cgroup);
    ledger.record(nonce, child.pid, cgroup?.folder);
    if (closed) await sandbox.kill();
    return { sandbox, pid: child.pid };
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
      const spawned = spawn(start, limits);
      starting.add(spawned);
      const { sandbox, pid } = await spawned.finally(() => starting.delete(spawned));
      if (closed) throw new SandboxStartError('the driver is closed');
      await awaitReady(sandbox, { entry, timeoutMs: limits.startTimeoutMs });
      return entry === 'evaluator' ? yieldToOthers(sandbox, pid) : sandbox;
    },
    async close() {
      closed = true;
      await Promise.allSettled(starting);
      await Promise.all([...running].map((sandbox) => sandbox.kill()));
    },
  };
}
