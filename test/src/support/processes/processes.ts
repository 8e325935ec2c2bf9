import { readdir, readFile } from 'node:fs/promises';

/** A process, told apart from a later one with the same id. */
export interface ProcessIdentity {
  pid: number;
  startTime: string;
  command: string;
}

/** The data of a process from Linux. */
export interface ProcessRow extends ProcessIdentity {
  parent: number;
  session: string;
  state: string;
  /** Processor time so far, in milliseconds. */
  cpuMs: number;
}

/** Ticks of `/proc/<pid>/stat` in a second, on every Linux. */
const TICKS_PER_SECOND = 100;

/** Reads a process; undefined where it has ended, or there is no `/proc`. */
export async function readProcess(pid: number): Promise<ProcessRow | undefined> {
  try {
    const [stat, command] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile(`/proc/${pid}/cmdline`, 'utf8'),
    ]);
    // The name is in parentheses and may hold anything; the fields follow the last parenthesis.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return {
      pid,
      state: fields[0] ?? '',
      parent: Number(fields[1]),
      session: fields[3] ?? '',
      cpuMs: ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS_PER_SECOND,
      startTime: fields[19] ?? '',
      command: command.replaceAll('\0', ' ').trim(),
    };
  } catch {
    return undefined;
  }
}

async function allProcesses(): Promise<ProcessRow[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const rows = await Promise.all(pids.map(readProcess));
  return rows.filter((row) => row !== undefined);
}

/** All descendants of a process. */
export async function descendants(pid: number): Promise<ProcessIdentity[]> {
  const rows = await allProcesses();
  const found: ProcessRow[] = [];
  let parents = new Set([pid]);
  while (parents.size > 0) {
    const children = rows.filter((row) => parents.has(row.parent));
    found.push(...children);
    parents = new Set(children.map((row) => row.pid));
  }
  return found;
}

/** The given processes that still run. */
export async function stillRunning(processes: ProcessIdentity[]): Promise<ProcessIdentity[]> {
  const now = new Map((await allProcesses()).map((row) => [row.pid, row]));
  return processes.filter(({ pid, startTime }) => {
    const row = now.get(pid);
    return row?.startTime === startTime && row.state !== 'Z';
  });
}

/** Ends the given processes that still run, as kill -9 does. */
export async function killRunning(processes: ProcessIdentity[]): Promise<void> {
  for (const { pid } of await stillRunning(processes)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended meanwhile.
    }
  }
}
