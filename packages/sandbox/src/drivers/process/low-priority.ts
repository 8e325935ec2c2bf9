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

/** Name of a process's scheduler group; undefined where processes have no groups. */
function autogroupOf(pid: number | 'self'): string | undefined {
  try {
    return /^\S+/.exec(readFileSync(`/proc/${pid}/autogroup`, 'utf8'))?.[0];
  } catch {
    return undefined;
  }
}

/**
 * Sets the priority of a sandbox's group. Linux may group processes by session (sched(7), autogroup). All groups then get the
 * same time, and the priority of a process counts only within its group.
 */
function setAutogroupPriority(pid: number, priority: number): void {
  const group = autogroupOf(pid);
  if (group === undefined || group === autogroupOf('self')) return;
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(priority));
  } catch {
    // It has ended. Or the limit is reached: ten changes of groups a second without root.
  }
}

/** Sets the priority of a process and of its children. Later children inherit the priority. */
function setPriorities(pid: number, priority: number): void {
  setAutogroupPriority(pid, priority);
  for (const thread of threadsOf(pid)) {
    try {
      setPriority(thread, priority);
    } catch {
      // It has ended. Or the change would raise the priority, which needs root.
    }
  }
  for (const child of childrenOf(pid)) setPriorities(child, priority);
}

/**
 * Lowers the priority of a model's code below the server, the database and agents. Long-running code gets a lower priority
 * than new code. Call it when the sandbox is ready, because a caller waits for its start.
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
      // A killed process needs processor time to end. After its end, another process may have its id.
      if (!hasExited) setPriorities(pid, own);
      return sandbox.kill();
    },
  };
}
