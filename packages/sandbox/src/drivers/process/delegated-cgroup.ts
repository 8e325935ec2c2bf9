import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { SandboxLimits } from '../../sandbox.js';

const MOUNT = '/sys/fs/cgroup';
const SERVER = 'agent-rental-server';
const SANDBOXES = 'agent-rental-sandboxes';
const CONTROLLERS = ['memory', 'pids'];
const MIB = 1024 * 1024;
/**
 * Memory that the kernel counts beside a sandbox's data: page tables, buffers of its pipes, and parts of files that no other
 * process had read. Data reaches the limit of data first, and code can survive that.
 */
const BESIDE_DATA_MB = 96;
const REMOVE_AGAIN_MS = 50;
const REMOVE_ATTEMPTS = 100;

export interface SandboxCgroup {
  folder: string;
  /** The file that a process writes to enter the cgroup. */
  entrance: string;
  /** Ends its processes, if any, and removes it. */
  remove(): void;
}

/** A part of the tree of cgroups that the host delegates to this process, for its sandboxes. */
export interface DelegatedCgroup {
  folder: string;
  open(name: string, limits: Pick<SandboxLimits, 'memoryMb'>, maxThreads: number): SandboxCgroup;
}

/** The folders of the system; replaced in tests. */
export interface CgroupPlaces {
  mount: string;
  ownCgroup(): string;
  /** The parent of a process; undefined when it is gone. */
  parentOf(pid: number): number | undefined;
}

const THIS_MACHINE: CgroupPlaces = {
  mount: MOUNT,
  ownCgroup: () => readFileSync('/proc/self/cgroup', 'utf8'),
  parentOf(pid) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    } catch {
      return undefined;
    }
  },
};

class NotDelegated extends Error {}

/**
 * Finds the cgroups of version 2 that the host delegates to this process, and prepares them. This process and its children move
 * to a cgroup beside the cgroups of the sandboxes. The reason is that the kernel allows no cgroup with both processes and
 * bounded children.
 *
 * @returns the step that failed, as text, where there are none.
 */
export function findDelegatedCgroup(places: CgroupPlaces = THIS_MACHINE): DelegatedCgroup | string {
  if (process.platform !== 'linux') return 'cgroups are a part of Linux';
  try {
    const own = findOwn(places);
    const parent = prepare(own, places);
    return {
      folder: parent,
      open: (name, limits, maxThreads) => open(join(parent, name), limits, maxThreads),
    };
  } catch (error) {
    if (error instanceof NotDelegated) return error.message;
    throw error;
  }
}

/** Does one step. @throws NotDelegated with the step's name. */
function step<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw new NotDelegated(`${what} failed: ${(error as Error).message}`);
  }
}

function findOwn({ mount, ownCgroup }: CgroupPlaces): string {
  if (!existsSync(join(mount, 'cgroup.controllers'))) {
    throw new NotDelegated(`there is no cgroup v2 at ${mount}`);
  }
  const text = step('reading /proc/self/cgroup', ownCgroup);
  const [, path] = /^0::(\/.*)$/m.exec(text) ?? [];
  if (path === undefined || path.startsWith('/..')) {
    throw new NotDelegated('this process is in no cgroup v2 that it can see');
  }
  const own = join(mount, path);
  // After an earlier start in the same cgroup.
  return basename(own) === SERVER ? dirname(own) : own;
}

function prepare(own: string, places: CgroupPlaces): string {
  const read = (name: string): string => readFileSync(join(own, name), 'utf8');
  const available = step('reading its controllers', () => read('cgroup.controllers')).split(/\s+/);
  const missing = CONTROLLERS.filter((controller) => !available.includes(controller));
  if (missing.length > 0) {
    throw new NotDelegated(`the cgroup ${own} has no controller for ${missing.join(' and ')}`);
  }
  const isRoot = !existsSync(join(own, 'cgroup.type'));
  if (!isRoot) moveAside(own, places);
  step(`bounding the children of ${own}`, () => enableControllers(own));
  const parent = join(own, SANDBOXES);
  step(`making ${parent}`, () => mkdirSync(parent, { recursive: true }));
  step(`bounding the children of ${parent}`, () => enableControllers(parent));
  for (const left of readdirSync(parent, { withFileTypes: true })) {
    if (left.isDirectory()) removeCgroup(join(parent, left.name), 0);
  }
  step('bounding a cgroup', () => {
    const trial = join(parent, 'trial');
    mkdirSync(trial);
    try {
      bound(trial, { memoryMb: 64 }, 1);
    } finally {
      rmdirSync(trial);
    }
  });
  return parent;
}

/** Moves this process and its children out of a cgroup, if no other process is in it. */
function moveAside(own: string, places: CgroupPlaces): void {
  const processes = readFileSync(join(own, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
  const others = processes.filter((pid) => !isOfThisProcess(pid, places));
  if (others.length > 0) {
    throw new NotDelegated(
      `the cgroup ${own} has ${others.length} other processes: start the server in a separate cgroup ` +
        '(a unit of systemd with Delegate=memory pids)',
    );
  }
  if (processes.length === 0) return;
  const aside = join(own, SERVER);
  step(`making ${aside}`, () => mkdirSync(aside, { recursive: true }));
  for (const pid of processes) {
    step(`moving to ${aside}`, () => writeFileSync(join(aside, 'cgroup.procs'), String(pid)));
  }
}

function isOfThisProcess(pid: number, { parentOf }: CgroupPlaces): boolean {
  for (let at: number | undefined = pid; at !== undefined && at > 1; at = parentOf(at)) {
    if (at === process.pid) return true;
  }
  return pid === process.pid;
}

function enableControllers(folder: string): void {
  writeFileSync(join(folder, 'cgroup.subtree_control'), CONTROLLERS.map((name) => `+${name}`).join(' '));
}

function bound(folder: string, { memoryMb }: Pick<SandboxLimits, 'memoryMb'>, maxThreads: number): void {
  const write = (name: string, value: number): void => writeFileSync(join(folder, name), String(value));
  write('memory.max', (memoryMb + BESIDE_DATA_MB) * MIB);
  // Absent where the kernel counts no swap.
  if (existsSync(join(folder, 'memory.swap.max'))) write('memory.swap.max', 0);
  write('memory.oom.group', 1);
  write('pids.max', maxThreads);
}

function open(folder: string, limits: Pick<SandboxLimits, 'memoryMb'>, maxThreads: number): SandboxCgroup {
  mkdirSync(folder);
  bound(folder, limits, maxThreads);
  return {
    folder,
    entrance: join(folder, 'cgroup.procs'),
    remove: () => removeCgroup(folder, REMOVE_ATTEMPTS),
  };
}

/** Ends all processes of a cgroup and removes it. Repeats this until they are gone, with a bound. */
function removeCgroup(folder: string, attempts: number): void {
  try {
    rmdirSync(folder);
    return;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
  }
  try {
    writeFileSync(join(folder, 'cgroup.kill'), '1');
  } catch {
    // Kernels before 5.14 have no such file.
  }
  if (attempts > 0) setTimeout(() => removeCgroup(folder, attempts - 1), REMOVE_AGAIN_MS).unref();
}

/**
 * Ends the leftovers of a killed server in the cgroup of a sandbox.
 * @param folder the recorded folder. A folder that is no sandbox's cgroup is left alone.
 */
export function endLeftCgroup(folder: string, mount = MOUNT): boolean {
  if (!folder.startsWith(`${mount}/`) || basename(dirname(folder)) !== SANDBOXES || !existsSync(folder)) {
    return false;
  }
  removeCgroup(folder, REMOVE_ATTEMPTS);
  return true;
}
