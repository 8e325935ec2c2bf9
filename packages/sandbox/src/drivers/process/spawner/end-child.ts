import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { EndMethod } from './messages.js';

/** The children of a process, as far as the kernel lists them. */
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
 * Ends a sandbox of bubblewrap by a kill of its only child, the first process of the sandbox's namespace. The kernel ends all
 * other processes there before the first one is dead, and bubblewrap ends last. Bubblewrap's end therefore means that no
 * process is left. A killed bubblewrap would end before them.
 */
function endNamespace(child: ChildProcess): void {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const first = childrenOf(pid);
  // No child exists before bubblewrap has made the namespace, and a kernel without that file shows none. The processes of
  // bubblewrap then die with it.
  if (first.length === 0) child.kill('SIGKILL');
  for (const id of first) kill(id);
}

/** Ends a child and all processes that it started. The child's `exit` comes when none of them is left. */
export const endMethods: Readonly<Record<EndMethod, (child: ChildProcess) => void>> = {
  process: (child) => void child.kill('SIGKILL'),
  namespace: endNamespace,
};
