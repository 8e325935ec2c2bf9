import { readdirSync, readFileSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;
const STDERR = 2;

/**
 * File descriptors that this process inherited, beside stdio, and would pass to every child. They may come from a service
 * manager, a shell or a lock. Node prevents this for its own descriptors, and for only the lowest inherited ones. Empty without
 * /proc.
 */
export function inheritedDescriptors(): number[] {
  const numbers = listDescriptors().filter((descriptor) => descriptor > STDERR);
  return numbers.filter(survivesExec).toSorted((a, b) => a - b);
}

/** Gives a child a descriptor of this process. The child has nothing at lower numbers without a value. */
export function giveDescriptor(stdio: (number | string)[], descriptor: number, given: number): void {
  while (stdio.length < descriptor) stdio.push('ignore');
  stdio[descriptor] = given;
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
    // It was the descriptor of the folder's listing.
    return false;
  }
}
