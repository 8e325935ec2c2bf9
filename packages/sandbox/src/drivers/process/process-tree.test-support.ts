import { type ChildProcess, spawn, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished } from 'vitest';

/** The built package as the text of an import, for a host in another process. */
export const BUILT = JSON.stringify(new URL('../../../dist/index.js', import.meta.url).href);

/** Starts a separate host, which runs a module with the built code. Waits for its first line. The test ends it. */
export async function startHost(
  code: string,
  args: readonly string[] = [],
  stdio: StdioOptions = ['ignore', 'pipe', 'inherit'],
): Promise<{ host: ChildProcess; pid: number; line: string }> {
  const host = spawn(process.execPath, ['--input-type=module', '-e', code, ...args], { stdio });
  onTestFinished(() => endNow(host));
  const [line] = (await once(createInterface(host.stdout as NodeJS.ReadableStream), 'line')) as [string];
  return { host, pid: host.pid ?? 0, line };
}

/** Ends a child with SIGKILL, unless it has ended. */
export async function endNow(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Descriptors that a sandbox opens itself, replacements of inherited ones, and copies of its standard streams' pipes. */
const OWN_DESCRIPTOR = /^(socket|anon_inode):|^\/dev\/null$|\/pipes-[^/]+\/\d+ \(deleted\)$/;

/** The open files of a process, by their descriptors. */
export async function openFilesOf(pid: number): Promise<Map<number, string>> {
  const descriptors = (await readdir(`/proc/${pid}/fd`)).map(Number);
  const links = descriptors.map(async (fd) => [fd, await readlink(`/proc/${pid}/fd/${fd}`)] as const);
  return new Map(await Promise.all(links));
}

/** Checks that the standard streams of a sandbox are pipes, and that its other descriptors are its own. */
export async function expectOwnDescriptors(pid: number): Promise<void> {
  const files = await openFilesOf(pid);
  for (const stdio of [0, 1, 2]) expect(files.get(stdio)).toMatch(/\/pipes-[^/]+\/\d+ \(deleted\)$/);
  const others = [...files].filter(([descriptor]) => descriptor > 2).map(([, target]) => target);
  expect(others.filter((target) => !OWN_DESCRIPTOR.test(target))).toEqual([]);
}

/** Checks limits of a process, which have the same soft and hard value. */
export async function expectLimits(pid: number, limits: Readonly<Record<string, number>>): Promise<void> {
  const text = await readFile(`/proc/${pid}/limits`, 'utf8');
  for (const [name, value] of Object.entries(limits)) {
    expect(text).toMatch(new RegExp(`^Max ${name}\\s+${value}\\s+${value}\\s`, 'm'));
  }
}

/** The recorded processes of a ledger. */
export async function recordedPids(stateDir: string): Promise<number[]> {
  const folder = join(stateDir, 'sandboxes');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  const entries = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return entries.map((text) => (JSON.parse(text) as { pid: number }).pid);
}

/**
 * Processes by the id of their parent, as /proc has them now. A zombie does not count, unless it is the first thread of a
 * process that continues in another thread.
 */
function processesByParent(): Map<number, number[]> {
  const byParent = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    let stat: string;
    try {
      stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    } catch {
      continue;
    }
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, parent, threads] = [fields[0], fields[1], Number(fields[17])];
    if ((state === 'Z' || state === 'X') && threads <= 1) continue;
    byParent.set(Number(parent), [...(byParent.get(Number(parent)) ?? []), Number(name)]);
  }
  return byParent;
}

/** The descendants of a process, from the oldest on, without itself. */
export function descendants(pid: number): number[] {
  const byParent = processesByParent();
  const found: number[] = [];
  for (let next = [pid]; next.length > 0;) {
    next = next.flatMap((id) => byParent.get(id) ?? []);
    found.push(...next);
  }
  return found;
}

/** The running ones of some processes. */
export function runningOf(pids: readonly number[]): number[] {
  const running = new Set([...processesByParent().values()].flat());
  return pids.filter((pid) => running.has(pid));
}
