import { readFile } from 'node:fs/promises';

/** Total time since the boot in which work waited for a processor, from Linux; 0 where Linux does not count it. */
export async function stalledSoFarMs(): Promise<number> {
  const pressure = await readFile('/proc/pressure/cpu', 'utf8').catch(() => '');
  return Number(/^some .*total=(\d+)$/m.exec(pressure)?.[1] ?? 0) / 1000;
}
