import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { EndMethod } from './messages.js';

/** The children of a process, as far as the kernel tells. */
export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    // Not on Linux, or it has ended.
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

/**
 * Ends a sandbox of bubblewrap. Its one child is the first process of the sandbox's namespace: when that is killed,
 * the kernel ends all other processes there before it counts as dead, and bubblewrap ends after it. So bubblewrap's own end
 * says that nothing is left. Killed itself, it would be gone before them.
 */
function endNamespace(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const first = childrenOf(pid);
  // There is none before bubblewrap has made the namespace, and none to be seen on a kernel without that file; then
  // what it started dies with it.
  if (first.length === 0) child.kill('SIGKILL');
  for (const id of first) kill(id);
}

/** Ends a child and everything it started, so that the child's `exit` comes when nothing of it is left. */
export const endMethods: Readonly<Record<EndMethod, (child: ChildProcess) => void>> = {
  process: (child) => void child.kill('SIGKILL'),
  namespace: endNamespace,
};
