import { readdir } from 'node:fs/promises';
import {
  descendants,
  readProcess,
  stillRunning,
  type ProcessIdentity,
} from '@agent-rental/test/support/processes/processes';
import { until } from '@agent-rental/test/support/timing/until';
import type { Part, Stack } from './stacks/stack.js';

/** The time within which all processes of a killed part must end. */
export const GONE_MS = 2_000;
/**
 * The time for the cleanup after a part's recovery. The server releases a slot without a wait for the disk. If PostgreSQL loses
 * the release in a crash, the slot's lease expires within a minute.
 */
const REST_MS = 65_000;
/** A stock of named pipes, which the server keeps for its next sandboxes. */
const NAMED_PIPE = /pipes-[^/]+\/\d+$/;

type Inventory = Readonly<Record<string, number>>;

/** Counts the server's processes by kind, without PostgreSQL's backends, and files by folder, without the named pipes. */
export async function takeInventory({ server, folders }: Stack): Promise<Inventory> {
  const counts: Record<string, number> = {};
  for (const { command } of await descendants(server.pid)) {
    const what = kindOf(command);
    if (what !== undefined) counts[what] = (counts[what] ?? 0) + 1;
  }
  for (const folder of folders) {
    const names = await readdir(folder, { recursive: true }).catch(() => []);
    counts[folder] = names.filter((name) => !NAMED_PIPE.test(name)).length;
  }
  return counts;
}

function kindOf(command: string): string | undefined {
  if (command.startsWith('postgres: ')) return undefined;
  if (/\/postgres -D /.test(command)) return 'postmaster';
  if (command.includes('agent-rental-postgres-guard')) return 'guard of PostgreSQL';
  if (command.includes('local-chain')) return 'chain';
  if (command.includes('examples')) return 'examples';
  return 'sandbox or helper';
}

/** The processes that must end with a part: its own process and all descendants. */
export async function processesOf(stack: Stack, part: Part): Promise<ProcessIdentity[]> {
  const pid = await stack.pidOf(part);
  const [itself, children] = await Promise.all([readProcess(pid), descendants(pid)]);
  return itself ? [itself, ...children] : children;
}

/** Describes the processes that still run after {@link GONE_MS}. */
export async function leftRunning(processes: readonly ProcessIdentity[], killedAt: number) {
  let left: ProcessIdentity[] = [];
  const areGone = async () => (left = await stillRunning([...processes])).length === 0;
  // One more look: the last one may have started before the end of the time.
  await until(areGone, killedAt + GONE_MS - performance.now(), 50).catch(areGone);
  return left.map(({ pid, command }) => `runs on after ${GONE_MS / 1000} s: ${pid} ${command.slice(0, 120)}`);
}

/** Waits until a run's resources are gone. @returns the leftovers after {@link REST_MS}. */
export async function leftBehind(stack: Stack, before: Inventory): Promise<string[]> {
  let left: string[] = [];
  const isEmpty = async () => {
    left = await leftNow(stack, before).catch((error: unknown) => [String(error)]);
    return left.length === 0;
  };
  await until(isEmpty, REST_MS, 50).catch(() => undefined);
  return left;
}

async function leftNow(stack: Stack, before: Inventory): Promise<string[]> {
  const [now, rows] = await Promise.all([
    takeInventory(stack),
    stack.query<Record<string, number>>(
      `select (select count(*) from seats where expires_at > now())::int as "slots taken",
        (select count(*) from seat_line where expires_at > now())::int as "places in the queue",
        (select count(*) from runs where status = 'running')::int as "runs on record as running",
        (select count(*) from charges where state = 'reserved')::int as "reservations",
        abs((select count(*) from pg_locks join pg_stat_activity using (pid) where locktype = 'advisory'
          and application_name = 'agent-rental-leadership') - 1)::int as "leaders too many or too few"`,
    ),
  ]);
  return Object.entries({ ...now, ...rows[0] }).flatMap(([what, is]) => {
    const was = before[what] ?? 0;
    return is > was ? [`${what}: ${was} before, ${is} after`] : [];
  });
}
