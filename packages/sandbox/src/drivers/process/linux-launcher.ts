import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { SandboxLimits } from '../../sandbox.js';

const TOOL_FOLDERS = '/usr/bin /bin /usr/sbin /sbin /usr/local/bin /run/current-system/sw/bin'.split(' ');
/**
 * Threads of a start beside V8's threads. Deno makes one V8 thread for each processor, up to 16. Measured: 10 others are
 * enough, and leave none for a thread bomb.
 */
const THREADS_BESIDE_V8 = 10;
const MOST_THREADS_OF_V8 = 16;
const MAX_OPEN_FILES = 64;
/** A sandbox writes no files, but its start needs one page. */
const MAX_FILE_BYTES = 4_096;

/** Looks for a tool in the folders of the operating system. Never in PATH, which the environment controls. */
export function locateTool(tool: string): string | undefined {
  return TOOL_FOLDERS.map((folder) => join(folder, tool)).find((path) => existsSync(path));
}

export function mostThreads(): number {
  return THREADS_BESIDE_V8 + Math.min(availableParallelism(), MOST_THREADS_OF_V8);
}

/** Hard limits of one process, as arguments of prlimit. */
export function limitArguments(limits: SandboxLimits): string[] {
  return [
    `--data=${limits.memoryMb * 1024 * 1024}`,
    `--cpu=${limits.cpuSeconds}`,
    `--nofile=${MAX_OPEN_FILES}`,
    `--fsize=${MAX_FILE_BYTES}`,
    // A core dump would write the input to disk.
    '--core=0',
  ];
}

/** The tools of util-linux that start a sandbox, as far as this machine has them. */
export interface LinuxLauncher {
  setpriv: string | undefined;
  prlimit: string | undefined;
}

/** Looks for setpriv and prlimit. On other platforms there is neither. */
export function locateLinuxLauncher(): LinuxLauncher {
  if (process.platform !== 'linux') return { setpriv: undefined, prlimit: undefined };
  return { setpriv: locateTool('setpriv'), prlimit: locateTool('prlimit') };
}

/**
 * The prefix of a command that then dies with its parent, can never gain privileges, and has hard limits. Both tools replace
 * themselves by the command, so the process id stays the same.
 */
export function launcherPrefix({ setpriv, prlimit }: LinuxLauncher, limits: SandboxLimits): string[] {
  const prefix: string[] = [];
  if (setpriv !== undefined) prefix.push(setpriv, '--pdeathsig', 'KILL', '--no-new-privs', '--');
  if (prlimit !== undefined) prefix.push(prlimit, ...limitArguments(limits), '--');
  return prefix;
}
