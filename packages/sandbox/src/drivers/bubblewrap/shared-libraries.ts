import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { locateTool } from '../process/linux-launcher.js';

const run = promisify(execFile);
const TIMEOUT_MS = 20_000;
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;

/**
 * The shared libraries that executables and libraries need, the dynamic linker included, by the paths where the linker
 * finds them.
 * @throws Error where there is no ldd, or it does not understand a file.
 */
export async function sharedLibraries(files: readonly string[]): Promise<string[]> {
  const ldd = locateTool('ldd');
  if (ldd === undefined) throw new Error('ldd was not found (it comes with the C library)');
  const { stdout } = await run(ldd, [...files], {
    timeout: TIMEOUT_MS,
    maxBuffer: MAX_OUTPUT_BYTES,
    // It is a shell script.
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
  });
  const paths = [...stdout.matchAll(/^\s+(?:\S+ => )?(\/\S+) \(0x/gm)].map(([, path = '']) => path);
  return [...new Set(paths)].toSorted();
}
