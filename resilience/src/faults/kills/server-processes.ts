import { readdir, readFile, readlink } from 'node:fs/promises';
import {
  descendants,
  readProcess,
  stillRunning,
  type ProcessIdentity,
  type ProcessRow,
} from '@agent-rental/test/support/processes/processes';

/** A running process, with the marks that connect it to a server. */
interface Found extends ProcessRow {
  readonly cgroup: string;
  namesFolder(folder: string): boolean;
}

async function lookAt(pid: number): Promise<Found | undefined> {
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
  const [process, cgroup, environment, directory] = await Promise.all([
    readProcess(pid),
    read('cgroup'),
    read('environ'),
    readlink(`/proc/${pid}/cwd`).catch(() => ''),
  ]);
  if (!process || process.state === 'Z' || process.state === 'X') return undefined;
  return {
    ...process,
    cgroup: cgroup.trim(),
    namesFolder: (folder) => [process.command, environment, directory].some((text) => text.includes(folder)),
  };
}

/** The marks of a server's processes, which they keep when they get another parent. */
interface Marks {
  readonly folder: string;
  readonly sessions: ReadonlySet<string>;
  readonly cgroups: ReadonlySet<string>;
}

/** Finds all processes that a server has started, and their marks. */
export async function everythingOf(serverPid: number, folder: string) {
  const started = await descendants(serverPid);
  const [own, ...looked] = await Promise.all([process.pid, ...started.map(({ pid }) => pid)].map(lookAt));
  const found = looked.filter((one) => one !== undefined);
  // This process's session and cgroup also contain other processes.
  const marks: Marks = {
    folder,
    sessions: new Set(found.map(({ session }) => session).filter((session) => session !== own?.session)),
    cgroups: new Set(found.map(({ cgroup }) => cgroup).filter((cgroup) => cgroup !== own?.cgroup)),
  };
  const marked = await withMarks(marks, [serverPid]);
  const others = marked.filter((one) => !started.some(({ pid }) => pid === one.pid));
  return { processes: [...started, ...others], marks };
}

/** Finds processes with the marks of a server, under any parent. */
async function withMarks({ folder, sessions, cgroups }: Marks, without: readonly number[] = []) {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const others = pids.filter((pid) => pid !== process.pid && !without.includes(pid));
  return (await Promise.all(others.map(lookAt)))
    .filter((one) => one !== undefined)
    .filter((one) => one.namesFolder(folder) || sessions.has(one.session) || cgroups.has(one.cgroup));
}

/** Describes the processes of an ended server that still run. */
export async function survivorsOf(processes: readonly ProcessIdentity[], marks: Marks): Promise<string[]> {
  const survivors = [...(await stillRunning([...processes])), ...(await withMarks(marks))];
  const commands = new Map(survivors.map(({ pid, command }) => [pid, command.slice(0, 160)]));
  return [...commands].map(([pid, command]) => `${pid} ${command}`);
}
