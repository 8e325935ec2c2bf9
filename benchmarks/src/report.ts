import { cpus, loadavg, platform, release, totalmem } from 'node:os';
import { percentile } from '@agent-rental/test/support/timing/quantiles';

export { percentile };

/** A measured line: the measurement's name, and its figures with the unit in the key (`p50_ms`). */
export type Row = Readonly<Record<string, string | number>>;

/** A target: a ratio to a baseline of the same run, or a count. */
export interface Target {
  readonly name: string;
  readonly value: number;
  readonly limit: number;
  readonly unit: string;
  readonly holds: boolean;
}

/** The findings of a suite. */
export interface Findings {
  /** Settings that influence the figures, for instance the version of a database. */
  readonly setting?: Readonly<Record<string, string | number>>;
  readonly rows: readonly Row[];
  readonly targets: readonly Target[];
}

/** A benchmark. `benchmarks/src/<name>.ts` exports one as `suite`, and `npm run bench -- <name>` runs it. */
export interface Suite {
  readonly name: string;
  /** One line: the measurement and its baseline. */
  readonly summary: string;
  /** Runs the suite. `progress` takes lines about its progress. */
  run(progress: (line: string) => void): Promise<Findings>;
}

/** The result of a suite, as `--json` prints it. */
export interface Report {
  readonly suite: string;
  readonly machine: Readonly<Record<string, string | number>>;
  readonly rows: readonly Row[];
  readonly targets: readonly Target[];
}

/** Collects findings. Each new row is also reported as progress. */
export class Sheet implements Findings {
  readonly rows: Row[] = [];
  readonly targets: Target[] = [];
  setting: NonNullable<Findings['setting']> = {};

  readonly progress: (line: string) => void;

  constructor(progress: (line: string) => void = () => undefined) {
    this.progress = progress;
  }

  /** Adds a row. Its numbers are rounded. */
  add(row: Row): void {
    const rounded = Object.entries(row).map(([name, cell]) => [
      name,
      typeof cell === 'number' ? round(cell) : cell,
    ]);
    this.rows.push(Object.fromEntries(rounded) as Row);
    this.progress(JSON.stringify(this.rows.at(-1)));
  }

  /** Adds a target that holds when the value reaches the limit. */
  atLeast(...target: Parameters<typeof atLeast>): void {
    this.targets.push(atLeast(...target));
  }

  /** Adds a target that holds when the value stays within the limit. */
  atMost(...target: Parameters<typeof atMost>): void {
    this.targets.push(atMost(...target));
  }
}

/** Percentiles of times in milliseconds, as figures of a row. */
export function timesOf(ms: readonly number[]): { p50_ms: number; p95_ms: number; samples: number } {
  return { p50_ms: median(ms), p95_ms: percentile(ms, 95), samples: ms.length };
}

/** The median of values. */
export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** A target that holds when the value reaches the limit. */
export function atLeast(name: string, value: number, limit: number, unit: string): Target {
  return { name: `${name}, at least`, value: round(value), limit, unit, holds: value >= limit };
}

/** A target that holds when the value stays within the limit. */
export function atMost(name: string, value: number, limit: number, unit: string): Target {
  return { name: `${name}, at most`, value: round(value), limit, unit, holds: value <= limit };
}

/** Rounds to three significant digits, or to a whole number from 100 on. More digits are noise. */
export function round(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

/** Combines a suite's findings with a description of the machine. */
export function report(suite: Suite, findings: Findings): Report {
  const [cpu] = cpus();
  return {
    suite: suite.name,
    machine: {
      cpu: cpu?.model.trim() ?? 'unknown',
      cores: cpus().length,
      memory_gb: Math.round(totalmem() / 2 ** 30),
      os: `${platform()} ${release()}`,
      node: process.version,
      load_average: round(loadavg()[0] ?? 0),
      ...findings.setting,
    },
    rows: findings.rows,
    targets: findings.targets,
  };
}

/** A report for people: a table of the rows, then each target and whether it holds. */
export function reportText({ suite, machine, rows, targets }: Report): string {
  const setting = Object.entries(machine).map(([name, value]) => `${name} ${value}`);
  return [
    `${suite}: ${setting.join(', ')}`,
    '',
    ...table(rows),
    '',
    ...targets.map(
      ({ name, value, limit, unit, holds }) =>
        `${holds ? 'holds' : 'FAILS'}  ${name} ${limit} ${unit}: ${value}`,
    ),
  ].join('\n');
}

/** A table with column names and right-aligned numbers. */
function table(rows: readonly Row[]): string[] {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ''))];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => String(line[index]).length)));
  return lines.map((line) =>
    line
      .map((cell, index) => {
        const width = widths[index] ?? 0;
        return typeof cell === 'number' ? String(cell).padStart(width) : cell.padEnd(width);
      })
      .join('  ')
      .trimEnd(),
  );
}
