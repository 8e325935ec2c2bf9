import { execFile } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);
const COMMAND_TIMEOUT_MS = 10_000;

export interface ProcessIdentity {
  /** Comparable only with another value from the same machine. */
  startTime: string;
  commandLine: string;
}

/** Start times count from the boot, so a time of an earlier boot may come again. Empty where the system has no boot id. */
let bootId: string | undefined;
function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** The flag of a process that ends (PF_EXITING). */
const ENDING = 0x4;

/**
 * Identifies a process on Linux, without waiting. Undefined for a missing process and for a zombie. A process whose first thread
 * has ended looks like a zombie, but runs as long as it has another thread. A process can change its command line.
 */
function readProc(pid: number): ProcessIdentity | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // From field 3 on, counted behind the name, which may hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, flags, threads, ticks] = [fields[0], Number(fields[6]), Number(fields[17]), fields[19]];
    const hasEnded = state === 'Z' || state === 'X' || (flags & ENDING) !== 0;
    if (ticks === undefined || (hasEnded && threads <= 1)) return undefined;
    bootId ??= readBootId();
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return { startTime: `${ticks}@${bootId}`, commandLine };
  } catch {
    return undefined;
  }
}

/** Any Unix, by the standard tool. */
export async function identifyByPs(pid: number): Promise<ProcessIdentity | undefined> {
  try {
    const { stdout } = await run('ps', ['-ww', '-o', 'stat=,lstart=,args=', '-p', String(pid)], {
      timeout: COMMAND_TIMEOUT_MS,
      // `lstart` is five words in the C locale.
      env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' },
    });
    const [, state, startTime, commandLine] = /^\s*(\S+)\s+((?:\S+\s+){4}\S+)\s+(.*)$/m.exec(stdout) ?? [];
    if (state === undefined || startTime === undefined || state.startsWith('Z')) return undefined;
    return { startTime, commandLine: commandLine ?? '' };
  } catch {
    return undefined;
  }
}

async function identifyOnWindows(pid: number): Promise<ProcessIdentity | undefined> {
  const script =
    `$p = Get-CimInstance Win32_Process -Filter 'ProcessId=${pid}'; ` +
    'if ($p) { $p.CreationDate.Ticks; $p.CommandLine }';
  try {
    const { stdout } = await run('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', script], {
      timeout: COMMAND_TIMEOUT_MS,
      windowsHide: true,
    });
    const [startTime, ...rest] = stdout.trim().split(/\r?\n/);
    return startTime ? { startTime, commandLine: rest.join(' ') } : undefined;
  } catch {
    return undefined;
  }
}

/** Identifies a running process. Undefined when it does not run (any more). */
export async function identifyProcess(pid: number): Promise<ProcessIdentity | undefined> {
  if (process.platform === 'linux') return readProc(pid);
  return process.platform === 'win32' ? identifyOnWindows(pid) : identifyByPs(pid);
}

/** The start time of a new child, where one file has it; else null. */
export function readStartTime(pid: number): string | null {
  return process.platform === 'linux' ? (readProc(pid)?.startTime ?? null) : null;
}

const MARK = /^(\d+)_(\d*)$/;

/** A mark of this process for the names of its files. No later process with its id has the same mark. */
export function markOfThisProcess(): string {
  const [ticks = ''] = (readStartTime(process.pid) ?? '').split('@');
  return `${process.pid}_${ticks}`;
}

/** Whether the process of a mark still runs, in this boot where the system has a boot id. */
export async function isMarkRunning(mark: string): Promise<boolean> {
  const [, pid, ticks] = MARK.exec(mark) ?? [];
  const identity = await identifyProcess(Number(pid));
  return identity !== undefined && (ticks === '' || identity.startTime.split('@')[0] === ticks);
}

/**
 * The number of a process's PID namespace. Undefined for a missing process, and for a process of another user. Only on Linux.
 */
export function readPidNamespace(pid: number | 'self'): number | undefined {
  try {
    const [, number] = /^pid:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/ns/pid`)) ?? [];
    return number === undefined ? undefined : Number(number);
  } catch {
    return undefined;
  }
}
