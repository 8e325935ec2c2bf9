import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import * as z from 'zod';

/**
 * Names one process for good; a process id alone is reused.
 * `machine` is the boot and, on Linux, the pid namespace in which `pid` has its meaning.
 */
export const ProcessIdentity = z.object({
  pid: z.int().positive(),
  started: z.string(),
  machine: z.string(),
});
export type ProcessIdentity = z.infer<typeof ProcessIdentity>;

/** Says who this process is. */
export function identifyOwnProcess(): ProcessIdentity {
  return { pid: process.pid, started: readStartTime(process.pid) ?? '', machine: identifyMachine() };
}

/**
 * Whether the process still runs. `unknown` if it was started on another boot or in another container:
 * its pid then says nothing here.
 */
export function checkProcess(identity: ProcessIdentity): 'running' | 'gone' | 'unknown' {
  if (identity.machine !== identifyMachine()) return 'unknown';
  return readStartTime(identity.pid) === identity.started ? 'running' : 'gone';
}

function identifyMachine(): string {
  if (process.platform !== 'linux') return process.platform;
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
}

/** The start time of a process in the system's own words, or undefined if there is no such process. */
function readStartTime(pid: number): string | undefined {
  if (process.platform === 'linux') return readLinuxStartTime(pid);
  try {
    const started = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { LC_ALL: 'C', TZ: 'UTC', PATH: '/bin:/usr/bin' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    return started === '' ? undefined : started;
  } catch {
    // ps exits with 1 if it finds no such process.
    return undefined;
  }
}

function readLinuxStartTime(pid: number): string | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return undefined;
  }
  // The command in parentheses may hold spaces and parentheses itself; the fields start after the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // Field 3 of proc(5) is the state: a zombie holds nothing any more. Field 22 is the start time.
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  return fields[19];
}
