import { readdirSync, readFileSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;
const STDERR = 2;

/**
 * File descriptors that this process was started with, beside stdio, and would hand on to every child: a service
 * manager's, a shell's, a lock's. Node marks its own as not to be handed on, and only the lowest of those. Empty where
 * the system does not tell (no /proc).
 */
export function inheritedDescriptors(): number[] {
  const numbers = listDescriptors().filter((descriptor) => descriptor > STDERR);
  return numbers.filter(survivesExec).toSorted((a, b) => a - b);
}

function listDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    return [];
  }
}

function survivesExec(descriptor: number): boolean {
  try {
    const [, flags = ''] =
      /^flags:\s+([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')) ?? [];
    return (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // It was the listing's own.
    return false;
  }
}
