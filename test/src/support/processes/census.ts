import { readdir, readFile, readlink } from 'node:fs/promises';
import type { Pool } from 'pg';
import type { Inspector } from './inspector.js';
import { descendants } from './processes.js';

/** Everything that a run may leave behind, counted from `/proc`, the process and the database. */
export interface Census {
  /** Processes of the server and its children, the database's apart. */
  processes: number;
  pipes: number;
  /** Connections to agents and models. */
  agentConnections: number;
  /** Connections of callers: of a running run's caller, and of callers long gone whose connection the server keeps. */
  callerConnections: number;
  /** Without the timers of the database's connections, each of which has one while it is idle. */
  timers: number;
  slots: number;
  inLine: number;
  runsRunning: number;
  chargesReserved: number;
}

/** The counts from the database. */
type Rows = Pick<Census, 'slots' | 'inLine' | 'runsRunning' | 'chargesReserved'>;

/** The server and the connections whose leftovers are counted. */
export interface Counted {
  readonly pid: number;
  readonly database: Pool;
  readonly inspector: Inspector;
  readonly agentPort: number;
  readonly serverPort: number;
  /** Connections of this process that runs were sent on and that are not closed. */
  readonly callers: ReadonlySet<unknown>;
}

/**
 * Growth that is no leak: timers of the server's background work, and the pipes of the second thread that checks schemas.
 * That thread starts when two checks meet for the first time. A leak would be one a run.
 */
const SLACK: Partial<Record<keyof Census, number>> = { timers: 10, pipes: 2 };

const ESTABLISHED = '01';
const LISTENING = '0A';

/** Counts now. */
export async function takeCensus(counted: Counted): Promise<Census> {
  const { pid, database, inspector, agentPort, serverPort, callers } = counted;
  const [children, descriptors, resources, { rows }] = await Promise.all([
    descendants(pid),
    readDescriptors(pid),
    inspector.activeResources(),
    database.query<{ connections: number } & Rows>(
      `select (select count(*) from pg_stat_activity where application_name = 'agent-rental')::int as connections,
        (select count(*) from seats)::int as slots,
        (select count(*) from seat_line)::int as "inLine",
        (select count(*) from runs where status = 'running')::int as "runsRunning",
        (select count(*) from charges where state = 'reserved')::int as "chargesReserved"`,
    ),
  ]);
  const { sockets, pipes } = descriptors;
  const { connections, ...left } = rows[0] as { connections: number } & Rows;
  // An open connection may be a client's that keeps it alive. Of these, only `callers` were sent runs.
  const halfClosed = sockets.filter(
    ({ local, state }) => local === serverPort && state !== ESTABLISHED && state !== LISTENING,
  );
  return {
    processes: children.filter(({ command }) => !command.startsWith('postgres')).length,
    pipes,
    agentConnections: sockets.filter(({ remote }) => remote === agentPort).length,
    callerConnections: callers.size + halfClosed.length,
    timers: Math.max(0, (resources['Timeout'] ?? 0) - connections),
    ...left,
  };
}

/** The leftovers since the census `before`, in words; empty where nothing is left behind. */
export function leftBehind(before: Census, after: Census): string[] {
  return (Object.keys(before) as (keyof Census)[]).flatMap((what) => {
    const [was, is] = [before[what], after[what]];
    return is > was + (SLACK[what] ?? 0) ? [`${what}: ${was} before, ${is} after`] : [];
  });
}

/** Pipes and TCP sockets that a process holds. */
async function readDescriptors(
  pid: number,
): Promise<{ pipes: number; sockets: { local: number; remote: number; state: string }[] }> {
  const names = await readdir(`/proc/${pid}/fd`);
  const targets = await Promise.all(
    names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => undefined)),
  );
  const inodes = new Set(targets.map((target) => /^socket:\[(\d+)\]$/.exec(target ?? '')?.[1]));
  const rows = (await readFile(`/proc/${pid}/net/tcp`, 'utf8')).trim().split('\n').slice(1);
  const portOf = (end = '') => Number.parseInt(end.split(':')[1] ?? '', 16);
  return {
    pipes: targets.filter((target) => target?.startsWith('pipe:')).length,
    sockets: rows
      .map((row) => row.trim().split(/\s+/))
      .filter((fields) => inodes.has(fields[9]))
      .map((fields) => ({ local: portOf(fields[1]), remote: portOf(fields[2]), state: fields[3] ?? '' })),
  };
}
