import { readFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';

/** The lowest priority that Linux knows. */
const LOWEST = constants.priority.PRIORITY_LOW;

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    // Not on Linux, or it has ended.
    return [];
  }
}

/**
 * Lowers the priority of a process and of what it has started, so that a model's code yields to the server, the database
 * and agents where there are too few processors. To be called when the sandbox is ready: its start is waited for, and
 * what it starts later inherits the priority.
 */
export function lowerPriority(pid: number): void {
  try {
    // Below this process, whose own priority may be below normal.
    setPriority(pid, Math.min(LOWEST, getPriority() + constants.priority.PRIORITY_BELOW_NORMAL));
  } catch {
    // It has ended.
    return;
  }
  for (const child of childrenOf(pid)) lowerPriority(child);
}
