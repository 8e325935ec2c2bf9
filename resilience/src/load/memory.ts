import { readFile } from 'node:fs/promises';
import { descendants } from '@agent-rental/test/support/processes/processes';

const SAMPLE_MS = 5_000;

/** The memory of each part of a marketplace, in megabytes. Shared pages count once. */
export interface MemoryByPart {
  server: number;
  database: number;
  /** Including the warm sandboxes. */
  sandboxes: number;
  /** The local chain and the examples. */
  others: number;
}

/** Measures the memory of a server and its children every few seconds. `stop` returns the peak of each part. */
export function watchMemory(serverPid: number): { stop(): MemoryByPart } {
  const most: MemoryByPart = { server: 0, database: 0, sandboxes: 0, others: 0 };
  const sample = async (): Promise<void> => {
    const now: MemoryByPart = { server: await megabytesOf(serverPid), database: 0, sandboxes: 0, others: 0 };
    for (const { pid, command } of await descendants(serverPid)) {
      const part = /postgres/.test(command)
        ? 'database'
        : /\b(deno|bwrap)\b/.test(command)
          ? 'sandboxes'
          : 'others';
      now[part] += await megabytesOf(pid);
    }
    for (const part of Object.keys(most) as (keyof MemoryByPart)[])
      most[part] = Math.max(most[part], Math.round(now[part]));
  };
  const timer = setInterval(() => void sample(), SAMPLE_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return most;
    },
  };
}

/** The proportional set size; 0 for a process that has ended. */
async function megabytesOf(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) / 1024;
}
