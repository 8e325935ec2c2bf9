import type { SandboxDriver, SandboxDriverName } from '../sandbox.js';
import { conformanceCases } from './index.js';
import { type Threat, threats } from './threats.js';

interface Column {
  title: string;
  isolation: 'kernel' | 'runtime';
  memoryBounded: boolean;
  endsWithHost: boolean;
}

/** The columns of each driver. The page says which driver has none. */
const columnsOf: Readonly<Record<SandboxDriverName, readonly Column[]>> = {
  bubblewrap: [{ title: '`kernel`', isolation: 'kernel', memoryBounded: true, endsWithHost: true }],
  deno: [
    { title: '`runtime` on Linux', isolation: 'runtime', memoryBounded: true, endsWithHost: true },
    { title: '`runtime` elsewhere', isolation: 'runtime', memoryBounded: false, endsWithHost: false },
  ],
  e2b: [],
};
const columns = Object.values(columnsOf).flat();

/** Properties that tests of single drivers show, beside the conformance cases. */
const shownByDrivers = {
  "limits while the server's event loop is blocked": ({ memoryBounded }: Column) => memoryBounded,
  "an orphaned busy loop after the server's `kill -9`": ({ endsWithHost }: Column) => endsWithHost,
} as const;

type Row = Threat | keyof typeof shownByDrivers;

/** Remarks of a row: for each column the wall that contains the attempt, or the gap. */
type Remarks = readonly (string | undefined)[];

/** The remarks of cells beyond "contained" and "not bounded", by row. */
const remarks: Readonly<Record<Row, Remarks>> = {
  'network: TCP, UDP, DNS, unix sockets, metadata address': [
    'twice: no interface, no permission; no network, no sockets',
  ],
  'files of the host': ['twice: no interface, no permission; none are there'],
  environment: ["twice: no interface, no permission; nothing of the host's is in it"],
  'the host behind stdio: its interfaces, addresses and process': [
    'twice: stdio is pipes; no system call for it',
  ],
  'processes of the machine, `/proc`': [
    'twice: no interface, no permission; only itself is there, and no `/proc`',
  ],
  'other sandboxes': ['also no locks, leases or watches on the files that all share'],
  signals: [],
  'fork bomb': ['twice: no permission; no system call for it'],
  'thread bomb': [
    'each sandbox has a limit of threads',
    'by the limit of memory, or by a cgroup',
    "the run's time limit ends it",
  ],
  'memory bomb': [undefined, undefined, 'JavaScript objects are, typed arrays are not'],
  '20 memory bombs at once': [undefined, undefined, 'as one bomb'],
  'quotas of the whole machine': ['no system call for them'],
  'filling the disk or its inodes': ['twice: no permission; nothing can be written to'],
  'output flood, endless line, input never read': [],
  "blocking the server's event loop with output": columns.map(() => 'no output blocks it for 10 ms'),
  'busy loop': [undefined, undefined, "in processor time; the run's time limit ends it"],
  'prototype pollution': [],
  'forged protocol messages': [],
  'permission prompts, workers': [],
  'importing remote code and host files': [],
  'native code': ['twice: no permission; no memory that can be executed'],
  'interfaces that reach the machine before they ask': [
    'twice: code finds none; nothing is there',
    'code finds none',
    'code finds none',
  ],
  'the path of the installation': [],
  'leftovers of the previous sandbox': [],
  'ending without an answer': [],
  'inherited file descriptors': [
    'they are not open in it',
    'they are not open in it',
    'they may be open in it; code finds no interface to use them',
  ],
  'undoing what ends it with the server': ['no system call for it'],
  "limits while the server's event loop is blocked": [
    'the kernel keeps them',
    'the kernel keeps them',
    'they wait for the server',
  ],
  "an orphaned busy loop after the server's `kill -9`": [
    'it dies with the server',
    'it dies with the server',
    'it runs until the next start on the same state folder',
  ],
};

function isContained(row: Row, column: Column): boolean {
  if (Object.hasOwn(shownByDrivers, row)) return shownByDrivers[row as keyof typeof shownByDrivers](column);
  const cases = conformanceCases.filter(({ threat }) => threat === row);
  if (cases.length === 0) throw new Error(`no conformance case shows "${row}"`);
  const driver = { isolation: column.isolation, guarantees: column } as unknown as SandboxDriver;
  return cases.every(({ appliesTo }) => appliesTo?.(driver) ?? true);
}

function cellOf(row: Row, column: Column, remark: string | undefined): string {
  if (!isContained(row, column)) {
    if (remark === undefined) throw new Error(`"${row}" is not bounded in ${column.title}: add a remark`);
    return `**not bounded**: ${remark}`;
  }
  if (remark === undefined) return 'contained';
  return /^(twice|by)\b/.test(remark) ? `contained ${remark}` : `contained: ${remark}`;
}

/**
 * Renders the table of docs/isolation.md: a row for each threat, a column for each kind of driver. An attempt is contained
 * where all its cases apply to the drivers of a column.
 */
export function isolationTable(): string {
  const rows = [...threats, ...(Object.keys(shownByDrivers) as (keyof typeof shownByDrivers)[])];
  return [
    ['attempt', ...columns.map(({ title }) => title)],
    ['---', ...columns.map(() => '---')],
    ...rows.map((row) => [row, ...columns.map((column, at) => cellOf(row, column, remarks[row][at]))]),
  ]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

/** Replaces the table of a page. @throws Error when the page has none. */
export function withIsolationTable(page: string, table: string): string {
  const lines = page.split('\n');
  const begin = lines.findIndex((line) => line.startsWith('| attempt '));
  if (begin < 0) throw new Error('the page has no table of attempts');
  const length = lines.slice(begin).findIndex((line) => !line.startsWith('|'));
  lines.splice(begin, length, ...table.split('\n'));
  return lines.join('\n');
}
