import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);
const COMMAND_TIMEOUT_MS = 10_000;

/** What tells a process from a later one that got the same id. */
export interface ProcessIdentity {
  /** Comparable only with another value from the same machine. */
  startTime: string;
  commandLine: string;
}

/** Linux, without waiting. Undefined when there is no such process, or only what is left of it (a zombie). */
function readProc(pid: number): ProcessIdentity | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Fields 3 and 22, counted behind the name, which may hold spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state] = fields;
    const startTime = fields[19];
    if (startTime === undefined || state === 'Z' || state === 'X') return undefined;
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    // Empty: it has given its memory back already and is about to be a zombie.
    return commandLine === '' ? undefined : { startTime, commandLine };
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

/** The start time of a child just spawned, where it costs no more than reading a file; else null. */
export function readStartTime(pid: number): string | null {
  return process.platform === 'linux' ? (readProc(pid)?.startTime ?? null) : null;
}
