import { cpus, loadavg, platform, release, totalmem } from 'node:os';

/** A measured line: what was done, and its figures with the unit in the key (`p50_ms`). */
export type Row = Readonly<Record<string, string | number>>;

/** A promise of the benchmark: a ratio against a baseline of the same run, or a count. */
export interface Target {
  readonly name: string;
  readonly value: number;
  readonly limit: number;
  readonly unit: string;
  readonly holds: boolean;
}

/** What a suite found. */
export interface Findings {
  /** What the figures depend on beside the machine, for instance the version of a database. */
  readonly setting?: Readonly<Record<string, string | number>>;
  readonly rows: readonly Row[];
  readonly targets: readonly Target[];
}

/** A benchmark. `benchmarks/src/<name>.ts` exports one as `suite`; `npm run bench -- <name>` runs it. */
export interface Suite {
  readonly name: string;
  /** One line: what is measured against what. */
  readonly summary: string;
  /** Measures. `progress` takes lines about its progress, which are no part of the result. */
  run(progress: (line: string) => void): Promise<Findings>;
}

/** The result of a suite, as `--json` prints it. */
export interface Report {
  readonly suite: string;
  readonly machine: Readonly<Record<string, string | number>>;
  readonly rows: readonly Row[];
  readonly targets: readonly Target[];
}

/** The value at that percentile (0 to 100) of the values, by nearest rank. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(Math.ceil((percent / 100) * sorted.length) - 1, 0)];
  if (value === undefined) throw new RangeError('There is no percentile of nothing.');
  return value;
}

/** The median. */
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

/** Three significant digits, and all digits of larger whole numbers: more is noise. */
export function round(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

/** Puts a suite's findings beside the machine they were found on. */
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

/** Rows under their column names, numbers to the right. */
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
