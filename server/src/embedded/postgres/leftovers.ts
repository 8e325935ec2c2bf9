import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError } from './errors.js';

const FAST_SHUTDOWN_MS = 10_000;
const IMMEDIATE_SHUTDOWN_MS = 5_000;
const KILL_MS = 5_000;
const POLL_MS = 10;

/**
 * Stops every process that a killed server left behind on this data folder: by a fast shutdown, then an immediate one,
 * then by force. Afterwards the stale `postmaster.pid` is removed: its pid may belong to a stranger, and PostgreSQL would
 * refuse to start.
 *
 * The pid in that file is never used. A process belongs to the folder only if it is PostgreSQL's program, and names the
 * folder in its command line or works in it. So a stranger is never signalled.
 *
 * The caller holds the state folder's lock.
 */
export async function stopLeftovers(dataDir: string, onFound: () => void): Promise<void> {
  if (findClusterProcesses(dataDir).length > 0) {
    onFound();
    await endProcesses(dataDir);
  }
  rmSync(join(dataDir, 'postmaster.pid'), { force: true });
}

async function endProcesses(dataDir: string): Promise<void> {
  const steps = [
    ['SIGINT', FAST_SHUTDOWN_MS],
    ['SIGQUIT', IMMEDIATE_SHUTDOWN_MS],
    ['SIGKILL', KILL_MS],
  ] as const;
  for (const [signal, waitMs] of steps) {
    const processes = findClusterProcesses(dataDir);
    // The postmaster ends its own children in order; children without one are told themselves. Those end at once: SIGINT
    // would have the checkpointer mark the database as shut down while others may still commit.
    const leaders = processes.filter(({ parent }) => !processes.some(({ pid }) => pid === parent));
    for (const { pid, isChild } of signal === 'SIGKILL' ? processes : leaders) {
      signalIfThere(pid, isChild && signal === 'SIGINT' ? 'SIGQUIT' : signal);
    }
    const until = performance.now() + waitMs;
    while (performance.now() < until) {
      if (findClusterProcesses(dataDir).length === 0) return;
      await delay(POLL_MS);
    }
  }
  const pids = findClusterProcesses(dataDir).map(({ pid }) => pid);
  if (pids.length === 0) return;
  throw new EmbeddedPostgresError(
    `PostgreSQL from an earlier run still uses ${dataDir} and does not end; stop process ${pids.join(', ')}.`,
  );
}

interface ClusterProcess {
  readonly pid: number;
  readonly parent: number;
  /** A process that only a postmaster starts. */
  readonly isChild: boolean;
}

function findClusterProcesses(dataDir: string): ClusterProcess[] {
  return process.platform === 'linux' ? findInProc(dataDir) : findWithPs(dataDir);
}

function findInProc(dataDir: string): ClusterProcess[] {
  const found: ClusterProcess[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const folder = `/proc/${name}`;
      const program = readFileSync(`${folder}/comm`, 'utf8').trim();
      if (program !== 'postgres' && program !== 'initdb') continue;
      const isNamed = namesFolder(`${folder}/cmdline`, dataDir);
      if (!isNamed && !worksIn(`${folder}/cwd`, dataDir)) continue;
      const stat = readFileSync(`${folder}/stat`, 'utf8');
      // After the command in parentheses: the state, then the parent's pid (proc(5)).
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z' || state === 'X') continue;
      found.push({ pid: Number(name), parent: Number(parent), isChild: !isNamed });
    } catch {
      // It ended while we looked.
    }
  }
  return found;
}

function namesFolder(cmdline: string, dataDir: string): boolean {
  const args = readFileSync(cmdline, 'utf8').split('\0');
  return args.some(
    (arg, index) => args[index - 1] === '-D' && (arg === dataDir || arg === newDataDir(dataDir)),
  );
}

/** PostgreSQL's processes all work in the data folder, and retitle themselves. */
function worksIn(cwd: string, dataDir: string): boolean {
  try {
    return readlinkSync(cwd) === dataDir;
  } catch {
    // Without CAP_SYS_PTRACE, as in a container, root cannot read it; the postmaster's command line remains.
    return false;
  }
}

function findWithPs(dataDir: string): ClusterProcess[] {
  const list = execFileSync('ps', ['-axww', '-o', 'pid=,ppid=,stat=,command='], {
    encoding: 'utf8',
    env: { LC_ALL: 'C', PATH: '/bin:/usr/bin' },
    maxBuffer: 64 * 1024 * 1024,
  });
  const found: ClusterProcess[] = [];
  for (const line of list.split('\n')) {
    const [, pid, parent, state, command] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
    if (command === undefined || state === undefined || state.startsWith('Z')) continue;
    const isOurs = [dataDir, newDataDir(dataDir)].some((folder) =>
      [`/postgres -D ${folder}`, `/initdb -D ${folder}`].some((call) => `${command} `.includes(`${call} `)),
    );
    if (isOurs) found.push({ pid: Number(pid), parent: Number(parent), isChild: false });
  }
  return found;
}

/** Where a new data folder is made before it gets its name. */
export function newDataDir(dataDir: string): string {
  return `${dataDir}.new`;
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
