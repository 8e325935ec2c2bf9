import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import type { Sandbox } from '../../sandbox.js';
import { childrenOf } from './spawner/end-child.js';

const { PRIORITY_BELOW_NORMAL, PRIORITY_LOW } = constants.priority;
/** Code that works for longer than this is no longer short. */
const SHORT_MS = 200;

/** Ids of the threads of a process. Linux has a priority for each; elsewhere the process has one. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [pid];
  }
}

/** Name of the scheduler's group that a process is in; undefined where processes are not grouped. */
function autogroupOf(pid: number | 'self'): string | undefined {
  try {
    return /^\S+/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[0];
  } catch {
    return undefined;
  }
}

/**
 * Sets the priority of a sandbox's group. Linux may group processes by session (sched(7), autogroup): a group gets the same
 * time as any other one, and the priority of a process counts within its group alone.
 */
function setAutogroupPriority(pid: number, priority: number): void {
  const group = autogroupOf(pid);
  if (group === undefined || group === autogroupOf('self')) return;
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(priority));
  } catch {
    // It has ended; or without root, groups are changed ten times a second.
  }
}

/** Sets the priority of a process and of its children. Later children inherit the priority. */
function setPriorities(pid: number, priority: number): void {
  setAutogroupPriority(pid, priority);
  for (const thread of threadsOf(pid)) {
    try {
      setPriority(thread, priority);
    } catch {
      // It has ended; or it would be raised, which needs root.
    }
  }
  for (const child of childrenOf(pid)) setPriorities(child, priority);
}

/**
 * Has a model's code yield to the server, the database and agents where there are too few processors, and code that works
 * for long yield to code that has just started. To be called when the sandbox is ready: its start is waited for.
 */
export function yieldToOthers(sandbox: Sandbox, pid: number): Sandbox {
  // This process's own priority may be below normal.
  const own = getPriority();
  setPriorities(pid, Math.min(PRIORITY_LOW, own + PRIORITY_BELOW_NORMAL));
  let timer: NodeJS.Timeout | undefined;
  let hasExited = false;
  const noteExit = async (): Promise<void> => {
    await sandbox.exited;
    hasExited = true;
    clearTimeout(timer);
  };
  void noteExit();
  return {
    ...sandbox,
    send(line) {
      if (!hasExited) timer ??= setTimeout(() => setPriorities(pid, PRIORITY_LOW), SHORT_MS);
      sandbox.send(line);
    },
    kill() {
      clearTimeout(timer);
      // A process that is killed needs processor time to end. Once it has ended, its id may be another process's.
      if (!hasExited) setPriorities(pid, own);
      return sandbox.kill();
    },
  };
}
