import { readFile } from 'node:fs/promises';

/** Time in which something waited for a processor since the machine began, as Linux counts it; 0 where it does not. */
export async function stalledSoFarMs(): Promise<number> {
  const pressure = await readFile('/proc/pressure/cpu', 'utf8').catch(() => '');
  return Number(/^some .*total=(\d+)$/m.exec(pressure)?.[1] ?? 0) / 1000;
}
