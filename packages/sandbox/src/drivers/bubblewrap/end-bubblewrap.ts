import { readFileSync } from 'node:fs';
import type { EndChild } from '../process/child-sandbox.js';

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/**
 * Ends a sandbox of bubblewrap. Its one child is the first process of the sandbox's namespace: when that is killed,
 * the kernel ends whatever else is there before it counts as dead, and bubblewrap ends after it. So bubblewrap's own end
 * says that nothing is left. Killed itself, it would be gone before them.
 */
export const endBubblewrap: EndChild = (child) => {
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const first = childrenOf(pid);
  // There is none before bubblewrap has made the namespace, and none to be seen on a kernel without that file; then
  // what it started dies with it.
  if (first.length === 0) child.kill('SIGKILL');
  for (const id of first) kill(id);
};

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}
