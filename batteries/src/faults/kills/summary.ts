import type { CellReport } from './kills.js';

/** Times of one part of one stack, in milliseconds. */
export interface PartTimes {
  readonly stack: string;
  readonly part: string;
  readonly kills: number;
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  readonly longestWaitMs: number;
  readonly broken: number;
}

/** How long each part took to be back. */
export function timesOf(reports: readonly CellReport[]): PartTimes[] {
  const groups = new Map<string, CellReport[]>();
  for (const report of reports) {
    const name = `${report.stack} ${report.part}`;
    groups.set(name, [...(groups.get(name) ?? []), report]);
  }
  return [...groups.values()].map((ones) => {
    const sorted = ones.map(({ backMs }) => backMs).toSorted((one, other) => one - other);
    const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN;
    return {
      stack: ones[0]?.stack ?? '',
      part: ones[0]?.part ?? '',
      kills: ones.length,
      medianMs: at(0.5),
      p95Ms: at(0.95),
      maxMs: at(1),
      longestWaitMs: Math.max(...ones.map(({ longestWaitMs }) => longestWaitMs)),
      broken: ones.filter(({ wrong }) => wrong.length > 0).length,
    };
  });
}

/** The table, and what is wrong, for people. */
export function summaryOf(reports: readonly CellReport[]): string {
  const head = ['stack', 'part', 'kills', 'median ms', 'p95 ms', 'max ms', 'longest wait ms', 'broken'];
  const rows = timesOf(reports).map((times) => Object.values(times).map(String));
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  const wrong = reports.flatMap((report) =>
    report.wrong.map((text) => `${report.stack} ${report.part} at ${report.step}: ${text}`),
  );
  const verdict =
    wrong.length === 0
      ? `${reports.length} kills: every guarantee held, nothing was left, and the service was back in time.`
      : `${wrong.length} things are wrong.`;
  return `${[line(head), ...rows.map(line), '', ...wrong, verdict].join('\n')}\n`;
}
